//! `cargo xtask site`: the documents as a site, of which every link leads somewhere. The documents are plain
//! Markdown and need it for nothing but reading in a browser.
//!
//! Zensical makes it: the successor of Material for MkDocs by the same people, which reads `mkdocs.yml`, refuses
//! broken links and anchors, and is there in seconds (mdBook would be compiled for minutes, and takes links on
//! trust). Pages keep the paths of the repository, so files that they link to lie beside them.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::packages::{cache, root, run};
use crate::python::{fresh, pip};

/// The documents: files, and folders whose Markdown and pictures count.
const DOCUMENTS: [&str; 8] = [
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "docs/questions", "python", "record",
    "runners",
];

pub(crate) fn run_all() -> Result<()> {
    let folder = cache().join("site");
    let _ = fs::remove_dir_all(&folder);
    let pages = folder.join("pages");
    let mut links = 0;
    for document in documents()? {
        staged(&document, &pages)?;
        for target in targets(&document)? {
            let file = root().join(&target);
            ensure!(file.is_file(), "{}: no file {}", document.display(), target.display());
            staged(&target, &pages)?;
            links += 1;
        }
    }
    // A reader of links that reads none would find nothing wrong.
    ensure!(links > 50, "{links} links between files");
    let own = root().join("xtask/site");
    fs::copy(own.join("mkdocs.yml"), folder.join("mkdocs.yml"))?;
    let python = fresh(&folder.join("python"))?;
    run(pip(&python).arg("-r").arg(own.join("requirements.txt")))?;
    let mut build = Command::new(python.with_file_name("zensical"));
    build.current_dir(&folder).args(["build", "--strict", "--config-file", "mkdocs.yml"]);
    let status = build.status().context("zensical")?;
    ensure!(status.success(), "the site: {status}");
    println!("{}", folder.join("site/index.html").display());
    Ok(())
}

/// All documents, by their paths in the repository.
fn documents() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for name in DOCUMENTS {
        if root().join(name).is_file() {
            found.push(name.into());
            continue;
        }
        for entry in fs::read_dir(root().join(name)).with_context(|| name.to_owned())? {
            let path = entry?.path();
            // A folder of folders, each with a page.
            let page = if path.is_dir() { path.join("README.md") } else { path };
            if page.extension().is_some_and(|e| e == "md") && page.is_file() {
                found.push(page.strip_prefix(root())?.to_owned());
            }
        }
    }
    Ok(found)
}

/// The files of the repository that a document links to, or shows.
fn targets(document: &Path) -> Result<Vec<PathBuf>> {
    let text = fs::read_to_string(root().join(document))?;
    let mut found = Vec::new();
    for (opening, end) in [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"')] {
        for rest in text.split(opening).skip(1) {
            let link = rest.split(end).next().unwrap_or_default();
            let path = link.split('#').next().unwrap_or_default();
            let is_file = !path.is_empty() && !path.contains([':', ' ', '\n', '`']);
            if is_file {
                found.push(plain(&document.with_file_name("").join(path)));
            }
        }
    }
    Ok(found)
}

/// Without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(found.pop()),
            part => found.push(part),
        }
    }
    found
}

/// Copies a file of the repository to the same path under `pages`.
fn staged(file: &Path, pages: &Path) -> Result<()> {
    let to = pages.join(file);
    fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
    fs::copy(root().join(file), to).with_context(|| file.display().to_string())?;
    Ok(())
}
