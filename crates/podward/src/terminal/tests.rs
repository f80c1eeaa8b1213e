use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use tokio::net::unix::pipe;

use super::{MAX_LINE, Terminal, Typed, next_line};

/// A terminal, and the person's end of it.
fn terminal() -> (File, Terminal) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file: OwnedFd = rustix::fs::open(name, flags, Mode::empty()).unwrap();
    let file = File::from(file);
    let input = pipe::Receiver::from_file_unchecked(file.try_clone().unwrap()).unwrap();
    let terminal = Terminal {
        file,
        input,
        typed: b"typed long ago\n".to_vec(),
        pause: None,
    };
    (person.into(), terminal)
}

/// Whole lines, the beginning of one, and what comes while it is waited for: none of it is a line.
#[tokio::test]
async fn what_is_typed_before_and_in_a_pause_is_no_line() {
    let (mut person, mut terminal) = terminal();
    person.write_all(b"y\nno, y").unwrap();
    tokio::select! {
        biased;
        _ = terminal.quiet() => panic!("half a second is not over"),
        () = tokio::task::yield_now() => {}
    }
    person.write_all(b"es\nye").unwrap();
    assert!(terminal.quiet().await > 0);
    person.write_all(b"n\n").unwrap();
    assert_eq!(terminal.line().await, Typed::Line("n".to_owned()));
    let modes = tcgetattr(&terminal.file).unwrap().local_modes;
    assert!(modes.contains(LocalModes::ICANON));
}

#[test]
fn only_whole_lines_are_taken_one_at_a_time() {
    let mut typed = b"y\n\nno, be".to_vec();
    assert_eq!(next_line(&mut typed), Some(Typed::Line("y".to_owned())));
    assert_eq!(next_line(&mut typed), Some(Typed::Line(String::new())));
    assert_eq!(next_line(&mut typed), None);
    typed.extend(b"cause \xff\n");
    let rest = "no, because \u{fffd}".to_owned();
    assert_eq!(next_line(&mut typed), Some(Typed::Line(rest)));
    assert!(typed.is_empty());
}

#[test]
fn a_line_that_a_terminal_may_have_cut_is_no_line() {
    let mut typed = vec![b'a'; MAX_LINE];
    typed.push(b'\n');
    assert_eq!(next_line(&mut typed), Some(Typed::TooLong));
}
