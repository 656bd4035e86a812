//! The archive a Linux kernel unpacks as its first file system: cpio, "newc" form, uncompressed.
//!
//! ```text
//!   070701 and 13 fields of 8 hexadecimal digits: inode, mode, uid, gid, links, mtime, bytes,
//!   device (2), special device (2), bytes of the name with its NUL, check (0)
//!   name NUL, padded to 4 │ data, padded to 4 │ … │ entry TRAILER!!!
//! ```

/// A folder that everybody may enter.
const FOLDER: u32 = 0o040_755;
/// A file that everybody may run.
const FILE: u32 = 0o100_755;

/// An archive of empty `folders` and of `files`, each a path without its first slash and its bytes.
pub(crate) fn archive(folders: &[&str], files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut inodes = 1..;
    for (folder, inode) in folders.iter().zip(&mut inodes) {
        entry(&mut out, inode, FOLDER, folder, &[]);
    }
    for ((name, data), inode) in files.iter().zip(&mut inodes) {
        entry(&mut out, inode, FILE, name, data);
    }
    entry(&mut out, 0, 0, "TRAILER!!!", &[]);
    out
}

fn entry(out: &mut Vec<u8>, inode: u32, mode: u32, name: &str, data: &[u8]) {
    let bytes = u32::try_from(data.len()).expect("newc holds files below 4 GiB");
    let name_bytes = name.len() as u32 + 1;
    out.extend_from_slice(b"070701");
    for field in [inode, mode, 0, 0, 1, 0, bytes, 0, 0, 0, 0, name_bytes, 0] {
        out.extend_from_slice(format!("{field:08x}").as_bytes());
    }
    out.extend_from_slice(name.as_bytes());
    out.push(0);
    pad(out);
    out.extend_from_slice(data);
    pad(out);
}

fn pad(out: &mut Vec<u8>) {
    while !out.len().is_multiple_of(4) {
        out.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_as_the_kernel_reads_it() {
        let out = archive(&["proc"], &[("init", b"hello")]);
        let text = String::from_utf8_lossy(&out);
        let header = "0707010000000100 0041ed".replace(' ', "");
        assert!(text.starts_with(&header), "{text}");
        // 110 bytes of header and "proc\0" make 115, padded to 116: there the program starts.
        assert!(text[116..].starts_with("07070100000002000081ed"), "{text}");
        let program = 116 + 110;
        assert_eq!(&out[program..program + 8], b"init\0\0hel".get(..8).unwrap());
        assert!(text.trim_end_matches('\0').ends_with("TRAILER!!!"));
        assert_eq!(out.len() % 4, 0);
        assert_eq!(&text[116 + 6 + 6 * 8..116 + 6 + 7 * 8], "00000005");
    }
}
