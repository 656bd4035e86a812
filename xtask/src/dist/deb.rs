//! A Debian package (`deb(5)`): an ar archive of a version, what the package system reads, and the files.
//!
//! The program is linked statically, so the package depends on nothing; it is not meant for Debian's own
//! archive, whose rules for the building of packages it does not follow.

use std::path::Path;

use anyhow::Result;

use super::archive::{File, ar, gzip, tar};
use super::program::{Program, SHELLS, texts};

/// What Debian calls the machine of a target.
pub(super) fn architecture(target: &str) -> &'static str {
    if target.starts_with("aarch64") { "arm64" } else { "amd64" }
}

/// The package of a program of `source`. It is called `fathom-workbench`: Debian has a `fathom`, another one.
pub(super) fn package(program: &Program, source: &Path) -> Result<Vec<u8>> {
    let Program { version, target, bytes, pages, completions } = program;
    let mut files = vec![File::program("usr/bin/fathom", &**bytes)];
    for (name, page) in pages {
        files.push(File::new(format!("usr/share/man/man1/{name}.gz"), gzip(page)?));
    }
    for ((_, name, folder), text) in SHELLS.iter().zip(completions) {
        files.push(File::new(format!("{folder}/{name}"), &**text));
    }
    for text in texts(source)? {
        files.push(File::new(format!("usr/share/doc/fathom-workbench/{}", text.path), text.bytes));
    }
    // A candidate comes before its release; with `-` Debian would take `rc.1` for a revision that comes after it.
    let sorted = version.replacen('-', "~", 1);
    let kibibytes: usize = files.iter().map(|file| file.bytes.len().div_ceil(1024)).sum();
    let control = format!(
        "Package: fathom-workbench\nVersion: {sorted}\nArchitecture: {}\n\
         Maintainer: the maintainers of fathom <maintainers@localhost>\nInstalled-Size: {kibibytes}\n\
         Conflicts: fathom\nSection: utils\nPriority: optional\n\
         Description: aggregate text exactly; find out what is fastest here, with proof\n \
         Min, mean, max and more per key of delimited text; which map, hash, allocator or\n \
         primitive is fastest on this machine; whole commands against each other.\n",
        architecture(target)
    );
    let control = gzip(&tar("./", &[File::new("control", control)])?)?;
    let data = gzip(&tar("./", &files)?)?;
    Ok(ar(&[("debian-binary", b"2.0\n"), ("control.tar.gz", &control), ("data.tar.gz", &data)]))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn dpkg_reads_the_package() {
        if Command::new("dpkg-deb").arg("--version").output().is_err() {
            return println!("no dpkg-deb here: not tested");
        }
        let program = Program {
            version: "1.2.3-rc.1".into(),
            target: "aarch64-unknown-linux-musl".into(),
            bytes: b"#!/bin/sh\necho fathom\n".to_vec(),
            pages: vec![("fathom.1".into(), b".TH fathom\n".to_vec())],
            completions: vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec()],
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fathom.deb");
        std::fs::write(&path, package(&program, &crate::packages::root()).unwrap()).unwrap();
        let told = |option: &str| {
            let output = Command::new("dpkg-deb").arg(option).arg(&path).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let control = told("--field");
        assert!(control.contains("Version: 1.2.3~rc.1\nArchitecture: arm64\n"), "{control}");
        let contents = told("--contents");
        for line in ["-rwxr-xr-x root/root        22", "./usr/share/man/man1/fathom.1.gz"] {
            assert!(contents.contains(line), "{contents}");
        }
    }
}
