use crate::pattern::{Bounds, Glob, Hit, Shape, is_exempt, parse, program_of};
use crate::testing::{Random, n_cases};
use crate::text::{Hole, HoleKind, Text, TextBuilder};
use crate::work::Work;

const PIECES: &[&str] = &[
    "*", "*", "*", "?", "**/", "a", "b", "A", "ab", "-f", " ", " ", "/", ".", "é",
];

const TEXTS: &[&str] = &["a", "b", "B", "ab", "-f", " ", " ", "/", ".", "é", "'"];

fn a_text(random: &mut Random) -> Text {
    let kinds = [
        HoleKind::Quoted,
        HoleKind::Quoted,
        HoleKind::Unquoted,
        HoleKind::FileGlob,
        HoleKind::Anything,
    ];
    let front = random.text(TEXTS, 5);
    let mut text = TextBuilder::new().known(&front);
    for _ in 0..1 + random.below(2) {
        text = text.hole(random.one_of(&kinds));
        text = text.known(&random.text(TEXTS, 4));
    }
    text.build()
}

/// Between its bounds lies what all ways are found to be when they are walked.
#[test]
fn a_glance_never_says_what_a_walk_does_not_find() {
    let mut random = Random::new(29);
    let mut work = Work::new();
    let (mut n_settled, mut n_unmet) = (0, 0);
    for _ in 0..n_cases(1_000_000) / 5 {
        let pattern = random.text(PIECES, 7).replace("***", "*");
        if parse(&pattern).is_err() {
            continue;
        }
        let n_needed = match pattern.strip_suffix(" *") {
            Some(needed) if random.below(2) == 0 => needed.len(),
            Some(_) | None => pattern.len(),
        };
        let glob = Glob::written_with_optional_end(&pattern, n_needed);
        let text = a_text(&mut random);
        let told = |what: &str| format!("{what}: {pattern} of {n_needed} on {text}, {text:?}");
        let program = program_of(text.known_part());
        let fold = 0..random.below(3);
        let mut hit = |shape: &Shape| glob.hit(shape, Bounds::OPEN, &mut work).unwrap();
        let plain = hit(&Shape::plain(&text, &fold));
        let shapes = [
            Shape::path_from_root(&text),
            Shape::written(&text, &program, &fold),
            Shape::further(&text, &program),
        ];
        let walked = [plain, hit(&shapes[0]), hit(&shapes[1]), hit(&shapes[2])];
        work = Work::new();
        let found = glob.hit_holes(&text, &fold, &mut work);
        assert_eq!(found, Ok(plain), "{}", told("plain"));
        let bounds = glob.bounds(&text, |_| true, &mut work).unwrap();
        n_settled += usize::from(bounds.settled().is_some());
        let holds = |bounds: Bounds, hit: Hit| (bounds.least..=bounds.most).contains(&hit);
        for hit in walked {
            assert!(
                holds(bounds, hit),
                "{bounds:?}, {walked:?}: {}",
                told("all")
            );
        }
        let exempt = |hole: &Hole| is_exempt(hole, &program);
        let bounds = glob.bounds(&text, |hole| !exempt(hole), &mut work).unwrap();
        let is_unmet =
            text.holes().iter().all(exempt) && !glob.may_meet_known(&text, &mut work).unwrap();
        n_unmet += usize::from(is_unmet);
        for shape in &shapes[1..] {
            let walked = glob
                .hit_beyond_exempt(shape, Bounds::OPEN, &mut work)
                .unwrap();
            assert!(
                holds(bounds, walked),
                "{bounds:?}, {walked:?}: {}",
                told("exempt")
            );
            assert!(
                !is_unmet || walked == Hit::No,
                "{walked:?}: {}",
                told("unmet")
            );
        }
        work = Work::new();
    }
    // Else nothing was tested.
    assert!(n_settled > 100 && n_unmet > 100, "{n_settled}, {n_unmet}");
}
