//! A network of its own for one test: no interface but the loopback, with further addresses on it, a
//! name server that says what the test wants, and web servers that note who asked for what.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Set for a process that is inside.
const INSIDE: &str = "PODWARD_TEST_INSIDE";

/// Brings up the loopback with the addresses of this file's tests, and names the name server.
const PREPARE: &str = "set -e
    ip link set lo up
    for address in 93.184.216.34 10.0.0.5 169.254.169.254; do ip addr add $address/32 dev lo; done
    mount --bind \"$1\" /etc/resolv.conf
    shift
    exec \"$@\"";

/// Runs a test's body in a process of its own that has a network and mounts of its own. `name` is
/// the test's. Root needs no more; others need user namespaces.
pub(super) fn inside(name: &str, body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let folder = tempfile::tempdir().unwrap();
    let resolv = folder.path().join("resolv.conf");
    std::fs::write(
        &resolv,
        "nameserver 127.0.0.1\noptions timeout:5 attempts:1\n",
    )
    .unwrap();
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    let output = command
        .args(["--net", "--mount", "sh", "-c", PREPARE, "sh"])
        .arg(&resolv)
        .arg(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    // A name that no test has would pass without one.
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}\n{said}"
    );
}

/// What names lead to: each answer is given once, the last one stays.
type Names = BTreeMap<String, (usize, Vec<Vec<Ipv4Addr>>)>;

/// The servers of a test. They end with its process.
pub(super) struct Network {
    names: Arc<Mutex<Names>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Network {
    /// A name server, and a web server at each of these addresses.
    pub(super) fn new(addresses: &[Ipv4Addr]) -> Self {
        let network = Self {
            names: Arc::default(),
            requests: Arc::default(),
        };
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 53)).unwrap();
        let names = Arc::clone(&network.names);
        std::thread::spawn(move || serve_names(&socket, &names));
        for address in addresses.iter().copied() {
            let listener = TcpListener::bind((address, 80)).unwrap();
            let requests = Arc::clone(&network.requests);
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    serve(&mut stream.unwrap(), address, &requests);
                }
            });
        }
        network
    }

    /// What a name leads to, look-up by look-up.
    pub(super) fn name(&self, name: &str, answers: &[Vec<Ipv4Addr>]) {
        let mut names = self.names.lock().unwrap();
        names.insert(name.to_owned(), (0, answers.to_vec()));
    }

    /// How often a name was looked up.
    pub(super) fn n_looked_up(&self, name: &str) -> usize {
        self.names.lock().unwrap()[name].0
    }

    /// The requests so far: the server's address, the host it was asked for, and the path.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve_names(socket: &UdpSocket, names: &Mutex<Names>) {
    let mut question = [0; 512];
    loop {
        let (n_bytes, from) = socket.recv_from(&mut question).unwrap();
        let answer = answer(&question[..n_bytes], &mut names.lock().unwrap());
        socket.send_to(&answer, from).unwrap();
    }
}

/// Answers one question (RFC 1035, 4): addresses of IPv4, nothing else; an unknown name does not
/// exist.
fn answer(question: &[u8], names: &mut Names) -> Vec<u8> {
    const A: u16 = 1;
    let mut labels = Vec::new();
    let mut at = 12;
    while question[at] != 0 {
        let end = at + 1 + usize::from(question[at]);
        labels.push(String::from_utf8_lossy(&question[at + 1..end]).to_lowercase());
        at = end;
    }
    let end = at + 5;
    let kind = u16::from_be_bytes([question[at + 1], question[at + 2]]);
    let (code, addresses) = match names.get_mut(&labels.join(".")) {
        None => (3, Vec::new()),
        Some((n_asked, answers)) if kind == A => {
            let now = answers[(*n_asked).min(answers.len() - 1)].clone();
            *n_asked += 1;
            (0, now)
        }
        Some(_) => (0, Vec::new()),
    };
    let n_addresses = u8::try_from(addresses.len()).unwrap();
    let mut answer = question[..2].to_vec();
    answer.extend([0x81, 0x80 | code, 0, 1, 0, n_addresses, 0, 0, 0, 0]);
    answer.extend(&question[12..end]);
    for address in addresses {
        // The name of the question, A, IN, good for no time, four bytes.
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        answer.extend(address.octets());
    }
    answer
}

/// Answers one request: `/to/URL` redirects there, `/chain/N` N times, `/loop` to itself and back.
fn serve(stream: &mut TcpStream, address: Ipv4Addr, requests: &Mutex<Vec<String>>) {
    let head: Vec<String> = BufReader::new(&*stream)
        .lines()
        .map(Result::unwrap)
        .take_while(|line| !line.is_empty())
        .collect();
    let path = head[0].split(' ').nth(1).unwrap().to_owned();
    let host = head
        .iter()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    requests
        .lock()
        .unwrap()
        .push(format!("{address} {host} {path}"));
    let chain = path
        .strip_prefix("/chain/")
        .map(|number| number.parse::<u32>().unwrap());
    let to = match (path.strip_prefix("/to/"), chain) {
        (Some(url), _) => Some(url.to_owned()),
        (None, Some(number @ 1..)) => Some(format!("/chain/{}", number - 1)),
        (None, _) if path == "/loop" => Some("/back".to_owned()),
        (None, _) if path == "/back" => Some("/loop".to_owned()),
        (None, _) => None,
    };
    let (status, more) = match to {
        Some(to) => ("302 Found", format!("Location: {to}\r\n")),
        None => ("200 OK", "Content-Type: text/plain\r\n".to_owned()),
    };
    let body = format!("{path} at {address}");
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
}
