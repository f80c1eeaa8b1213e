//! What the whole program takes in a terminal: from a key to the screen, of the processor, and of memory.
//!
//! ```console
//! $ cargo build --release --workspace --bins --examples
//! $ target/release/examples/in_terminal target/release/podward
//! ```
//!
//! A pod that is none tells as many events as are wanted; the program sits at a pseudo-terminal, and a parser of
//! what terminals obey says what is on its screen.
#![expect(clippy::print_stdout, reason = "it prints what it measures")]

mod pod;
mod screen;

use std::error::Error;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use self::pod::{Pod, Tell};
use self::screen::Screen;

/// Events that are told for the memory.
const N_EVENTS: u64 = 100_000;
/// Keys that are pressed for each figure.
const N_KEYS: usize = 300;
/// How long the processor is looked at.
const LOOK: Duration = Duration::from_secs(20);

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let program = std::env::args_os().nth(1).ok_or("which program?")?;
    let root = tempdir()?;
    for (columns, rows) in [(80, 24), (200, 50)] {
        println!("{columns} columns, {rows} rows");
        let pod = Pod::serve(&root)?;
        let mut screen = Screen::start(&PathBuf::from(&program), &root, columns, rows)?;
        screen.sees("[busy idle]")?;
        report("  a key to the screen, idle", &mut screen)?;
        let (n_ticks, took) = screen.cpu(LOOK)?;
        println!("  processor, idle: {n_ticks} ms in {took:?}");
        pod.tell(Tell::Rate(1_000))?;
        sleep(Duration::from_secs(2));
        report("  a key to the screen, 1,000 events a second", &mut screen)?;
        let (n_ticks, took) = screen.cpu(LOOK)?;
        println!("  processor, 1,000 events a second: {n_ticks} ms in {took:?}");
        pod.tell(Tell::Rate(0))?;
        let begun = Instant::now();
        for part in 1..=5_u64 {
            pod.tell(Tell::Burst(N_EVENTS / 5))?;
            let mark = format!("#{part}/5#");
            pod.tell(Tell::Text(format!("\n\n{mark}\n\n")))?;
            screen.sees(&mark)?;
            let n_events = part * N_EVENTS / 5;
            println!(
                "  {n_events:>7} events: {} KiB resident",
                screen.resident()?
            );
        }
        println!(
            "  {N_EVENTS} events as fast as they are taken: {:?}",
            begun.elapsed()
        );
        report("  a key to the screen, after them", &mut screen)?;
        pod.stop()?;
    }
    std::fs::remove_dir_all(&root)?;
    Ok(())
}

/// Presses keys, and says how long each takes to be on the screen.
fn report(what: &str, screen: &mut Screen) -> Outcome {
    let mut took = Vec::with_capacity(N_KEYS);
    for _ in 0..N_KEYS {
        took.push(screen.press()?);
        sleep(Duration::from_millis(15));
    }
    took.sort();
    let at = |share: usize| {
        took.get(took.len() * share / 100)
            .copied()
            .unwrap_or_default()
    };
    println!("{what}: median {:?}, 99 % {:?}", at(50), at(99));
    Ok(())
}

/// A directory of its own below the one for temporary files.
fn tempdir() -> Outcome<PathBuf> {
    let path = std::env::temp_dir().join(format!("podward-in-terminal-{}", std::process::id()));
    std::fs::create_dir(&path)?;
    Ok(path)
}
