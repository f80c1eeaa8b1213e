//! A small HTTP server: one answer a connection, by path.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

pub(super) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

pub(super) struct Reply {
    bytes: Vec<u8>,
    body: Vec<u8>,
    headers: String,
    status: String,
    kind: Kind,
}

enum Kind {
    Whole,
    Raw,
    Never,
}

/// The path that stops a server.
const STOP: &str = "/stop-this-server";

impl Server {
    pub(super) fn new(reply: impl Fn(&str) -> Reply + Send + 'static) -> Self {
        Self::at("127.0.0.1", reply)
    }

    pub(super) fn at(address: &str, reply: impl Fn(&str) -> Reply + Send + 'static) -> Self {
        let address: Ipv4Addr = address.parse().unwrap();
        let listener = TcpListener::bind((address, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let thread = std::thread::spawn(move || {
            // Those that are never answered stay open.
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let request = read(&stream);
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                if path == STOP {
                    return;
                }
                seen.lock().unwrap().push(request);
                let reply = reply(&path);
                match reply.kind {
                    Kind::Never => open.push(stream),
                    Kind::Raw => reply.send(&mut stream, &reply.bytes),
                    Kind::Whole => reply.send(&mut stream, &reply.whole()),
                }
            }
        });
        Self {
            address,
            requests,
            thread: Some(thread),
        }
    }

    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }

    /// The requests so far, each with its header.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(stream, "GET {STOP} HTTP/1.1\r\n\r\n").unwrap();
        self.thread.take().unwrap().join().unwrap();
    }
}

fn read(stream: &TcpStream) -> String {
    let mut request = String::new();
    for line in BufReader::new(stream).lines() {
        match line {
            Ok(line) if line.is_empty() => break,
            Ok(line) => request += &(line + "\n"),
            Err(_) => break,
        }
    }
    request
}

impl Reply {
    pub(super) fn bytes(body: &[u8]) -> Self {
        Self {
            bytes: Vec::new(),
            body: body.to_vec(),
            headers: String::new(),
            status: "200 OK".to_owned(),
            kind: Kind::Whole,
        }
    }

    pub(super) fn text(text: &str) -> Self {
        Self::bytes(text.as_bytes()).typed("text/plain")
    }

    pub(super) fn redirect(status: u16, to: &str) -> Self {
        Self::text("elsewhere")
            .status(status, "Elsewhere")
            .header(&format!("Location: {to}"))
    }

    pub(super) fn raw(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            kind: Kind::Raw,
            ..Self::bytes(b"")
        }
    }

    pub(super) fn never() -> Self {
        Self {
            kind: Kind::Never,
            ..Self::bytes(b"")
        }
    }

    pub(super) fn typed(mut self, content_type: &str) -> Self {
        self.headers = format!("Content-Type: {content_type}\r\n");
        self
    }

    pub(super) fn header(mut self, line: &str) -> Self {
        self.headers += &format!("{line}\r\n");
        self
    }

    pub(super) fn status(mut self, status: u16, reason: &str) -> Self {
        self.status = format!("{status} {reason}");
        self
    }

    fn whole(&self) -> Vec<u8> {
        let head = format!(
            "HTTP/1.1 {}\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.status,
            self.headers,
            self.body.len()
        );
        [head.as_bytes(), &self.body].concat()
    }

    fn send(&self, stream: &mut TcpStream, bytes: &[u8]) {
        // A client that has read enough is gone.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
}
