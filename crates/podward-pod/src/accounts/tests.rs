use super::*;

const PASSWD: &str = "\
root:x:0:0:root:/root:/bin/bash
ada:x:1000:1000::/home/ada:/bin/sh
bob:x:1001:1001::/home/bob:/bin/sh
eve:x:1002:1001::/home/eve:/bin/sh
dan:x:1003:1003::/home/dan:/bin/sh
# a comment
broken:x:many
";

const GROUP: &str = "\
root:x:0:
ada:x:1000:ada
bob:x:1001:
dan:x:1003:eve
dev:x:2000:ada,bob
solo:x:2001:ada
";

#[test]
fn a_group_is_private_only_if_nobody_else_can_be_in_it() {
    let accounts = Accounts::parse(PASSWD, GROUP);
    let check = |uid, gid, private| {
        assert_eq!(accounts.is_private_group(uid, gid), private, "{uid}:{gid}");
    };
    check(0, 0, true);
    check(1000, 1000, true);
    check(1001, 1001, false); // eve's first group is bob's
    check(1003, 1003, false); // eve is a member
    check(1000, 2000, false);
    check(1000, 2001, false); // another name
    check(1001, 1000, false);
    check(1000, 4242, false); // listed nowhere
    check(4242, 4242, false);
}

#[test]
fn a_machine_without_account_files_has_no_private_group() {
    assert!(!Accounts::default().is_private_group(0, 0));
}
