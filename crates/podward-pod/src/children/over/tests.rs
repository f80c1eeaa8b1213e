use super::*;

#[test]
fn a_pod_that_is_told_to_end_has_the_time_that_its_children_may_take() {
    for n_below in 1..=16 {
        let own = time_to_end(n_below);
        let of_children = time_to_end_children(n_below);
        assert!(own >= of_children, "{n_below}: {own:?} {of_children:?}");
        // One that hangs is noticed, killed and written down in that time.
        assert!(of_children >= time_to_end(n_below - 1) + ANSWER + LAST_WORDS + RECORD);
    }
}
