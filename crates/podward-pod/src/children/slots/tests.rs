use super::*;

/// The pod that has no slot left.
#[track_caller]
fn full(taken: Result<Taken, ChildError>) -> String {
    match taken {
        Err(ChildError::TooMany { pod, .. }) => pod,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("there was one"),
    }
}

#[test]
fn a_child_takes_a_slot_of_each_pod_above_or_none() {
    let directory = tempfile::tempdir().unwrap();
    let slots = |pod: &str, most| {
        let session = directory.path().join(pod);
        std::fs::create_dir_all(&session).unwrap();
        Slots::new(pod, &session, most)
    };
    let (top, middle, other) = (slots("top", 3), slots("middle", 1), slots("other", 8));
    let below_top = take(std::slice::from_ref(&top)).unwrap();
    let below_middle = take(&[top.clone(), middle.clone()]).unwrap();
    assert_eq!(full(take(&[top.clone(), middle.clone()])), "middle");
    // What was refused there holds nothing of the other.
    let below_other = take(&[top.clone(), other.clone()]).unwrap();
    assert_eq!(full(take(&[top.clone(), other.clone()])), "top");
    drop(below_middle);
    let again = take(&[top.clone(), middle]).unwrap();
    drop((below_top, below_other, again));
    let all: Vec<_> = (0..3)
        .map(|_| take(std::slice::from_ref(&top)).unwrap())
        .collect();
    assert_eq!(full(take(&[top])), "top", "{}", all.len());
}
