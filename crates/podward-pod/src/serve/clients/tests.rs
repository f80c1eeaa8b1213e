use super::{Clients, HELLO_PINGS, Wanted, Welcomed};
use crate::serve::outbox::Outbox;

/// Who never says hello makes room for others; who said it late is not counted by what was before.
#[test]
fn a_connection_without_a_hello_ends() {
    let mut clients = Clients::default();
    let silent = clients.add(Outbox::new(1, 1)).unwrap();
    let late = clients.add(Outbox::new(1, 1)).unwrap();
    for _ in 0..HELLO_PINGS {
        assert!(clients.strangers().is_empty());
    }
    clients.get_mut(late).unwrap().welcome(Welcomed {
        name: "late".into(),
        can_approve: false,
        wants: Wanted::All,
    });
    assert_eq!(clients.get(late).unwrap().n_pings, 0);
    assert_eq!(clients.strangers(), [silent]);
}
