//! Every entry point over every file of its corpus.

use std::path::Path;

#[test]
fn every_entry_point_comes_back_from_its_corpus() {
    for (name, entry) in podward_fuzz::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(name);
        let mut n_files = 0;
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            let data = std::fs::read(&path).unwrap();
            eprintln!("{}", path.display());
            // The file, and what is left of it when it is cut anywhere.
            entry(&data);
            for end in 0..data.len().min(512) {
                entry(&data[..end]);
            }
            n_files += 1;
        }
        assert!(n_files > 0, "{} is empty", folder.display());
    }
}
