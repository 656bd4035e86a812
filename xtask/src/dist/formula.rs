//! The sums of a release, and the text of its Homebrew formula, which names them.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::Result;
use sha2::{Digest, Sha256};

/// Names and SHA-256 of the files of a folder, in the order of their names.
pub(super) fn sums(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut sums = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let digest = Sha256::digest(fs::read(&path)?);
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            sums.push((name, hex));
        }
    }
    sums.sort();
    Ok(sums)
}

/// The formula of a version whose archives are at `url`. fathom runs on Linux, so it is one for Homebrew
/// there.
pub(super) fn formula(version: &str, url: &str, sums: &[(String, String)]) -> String {
    let mut text = String::from("class Fathom < Formula\n");
    let said = "Aggregate text exactly; find out what is fastest here, with proof";
    let _ = writeln!(text, "  desc \"{said}\"\n  homepage \"{url}\"\n  version \"{version}\"");
    text.push_str("  license any_of: [\"MIT\", \"Apache-2.0\"]\n  depends_on :linux\n");
    for (machine, condition) in [("x86_64", "on_intel"), ("aarch64", "on_arm")] {
        let start = format!("fathom-{version}-{machine}-");
        let found = sums.iter().find(|(name, _)| name.starts_with(&start) && name.ends_with(".gz"));
        if let Some((name, sum)) = found {
            let source = format!("{url}/releases/download/v{version}/{name}");
            let _ = write!(
                text,
                "\n  {condition} do\n    url \"{source}\"\n    sha256 \"{sum}\"\n  end\n"
            );
        }
    }
    text.push_str(
        "\n  def install\n    bin.install \"fathom\"\n    man1.install Dir[\"man/*.1\"]\n    \
         bash_completion.install \"completions/fathom\"\n    \
         zsh_completion.install \"completions/_fathom\"\n    \
         fish_completion.install \"completions/fathom.fish\"\n  end\n\n  \
         test do\n    (testpath/\"rows\").write \"Oslo;1.5\\nOslo;2.5\\n\"\n    \
         assert_equal \"{Oslo=1.5/2.0/2.5}\\n\", shell_output(\"#{bin}/fathom aggregate rows\")\n  end\nend\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_names_the_archives_there_are_with_their_sums() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("fathom-1.0.0-x86_64-musl.tar.gz"), "abc").unwrap();
        fs::create_dir(folder.path().join("oci")).unwrap();
        let sums = sums(folder.path()).unwrap();
        let text = formula("1.0.0", "https://example.org/fathom", &sums);
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(text.contains(&format!("sha256 \"{abc}\"")), "{text}");
        assert!(text.contains("on_intel") && !text.contains("on_arm"));
        let ends = text.lines().filter(|line| line.trim() == "end").count();
        assert_eq!(text.matches(" do\n").count() + text.matches("def ").count() + 1, ends);
    }
}
