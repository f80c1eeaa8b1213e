use std::path::{Path, PathBuf};

use rustix::mount::MountFlags;

use super::{aliases, parse};

const TEXT: &[u8] = b"\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:21 / /tmp rw,nosuid,nodev shared:5 - tmpfs tmpfs rw,size=1g
31 22 8:1 /home/u/my\\040work /mnt/w\\134x ro,noatime shared:1 - ext4 /dev/sda1 rw
32 22 8:1 / /host rw,relatime - ext4 /dev/sda1 rw
33 22 8:1 /home/u/my\\040work/.podward/part /srv/part rw,relatime - ext4 /dev/sda1 rw
torn line
";

#[test]
fn escapes_and_flags_are_read() {
    let mounts = parse(TEXT);
    assert_eq!(mounts.len(), 5);
    assert_eq!(mounts[2].point, PathBuf::from("/mnt/w\\x"));
    assert_eq!(mounts[2].root, PathBuf::from("/home/u/my work"));
    assert_eq!(mounts[2].flags, MountFlags::RDONLY | MountFlags::NOATIME);
}

#[test]
fn a_file_is_found_under_the_names_that_other_mounts_give_it() {
    let mounts = parse(TEXT);
    let found = aliases(&mounts, Path::new("/home/u/my work/.podward"));
    assert_eq!(
        found,
        [
            "/mnt/w\\x/.podward",
            "/host/home/u/my work/.podward",
            "/srv/part",
        ]
        .map(PathBuf::from)
    );
    assert_eq!(aliases(&mounts, Path::new("/tmp/x")), [] as [PathBuf; 0]);
}
