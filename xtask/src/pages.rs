//! `cargo xtask pages`: loads every kind of page in headless Chromium. What is checked there is in
//! `xtask/pages/check.mjs`; the pages are those that a test of `fathom-report` writes from a seed.
//! `--documents` makes the pictures of the documents instead, of saved runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::packages::{cache, host_fathom, root, run, target};
use crate::skip;

/// What is installed, and what runs there.
const PROJECT: [&str; 4] = ["package.json", "package-lock.json", "check.mjs", "shoot.mjs"];

/// What npm says where it reaches nobody.
const NO_NETWORK: [&str; 5] = ["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT"];

/// The pictures of the documents: name, saved run, and the heading at which the picture begins.
const PICTURES: [(&str, &str, &str); 3] = [
    ("run", "2026-11-22-1f9daf00-epyc-zen4-2core/run-threads.json", ""),
    ("cpu", "2026-11-22-1f9daf00-epyc-zen4-2core/cpu.json", "All implementations"),
    ("scan", "2026-11-21-xeon-avx512-2core/aggregate-names.json", ""),
];

/// Pictures under `docs/pictures`, in both colour schemes.
pub(crate) fn documents() -> Result<()> {
    let browser = found()?;
    let program = host_fathom()?;
    let project = installed()?;
    let mut shoot = Command::new("node");
    shoot.arg(project.join("shoot.mjs")).arg(browser).arg(root().join("docs/pictures"));
    for (name, saved, heading) in PICTURES {
        let page = cache().join(format!("pages/{name}.html"));
        let mut report = Command::new(&program);
        report.arg("report").arg(root().join("record").join(saved));
        run(report.args(["--format", "html", "--output"]).arg(&page))?;
        shoot.arg(&page).arg(heading);
    }
    let status = shoot.status().context("node")?;
    ensure!(status.success(), "the pictures: {status}");
    Ok(())
}

pub(crate) fn run_all(bless: bool, pictures: Option<PathBuf>) -> Result<()> {
    let browser = found()?;
    let pages = written()?;
    let project = installed()?;
    let mut check = Command::new("node");
    check.arg(project.join("check.mjs")).arg(browser).arg(pages);
    check.arg(root().join("xtask/pages/outline.txt"));
    if bless {
        check.arg("--bless");
    }
    if let Some(folder) = pictures {
        fs::create_dir_all(&folder)?;
        check.arg("--pictures").arg(folder);
    }
    let status = check.status().context("node")?;
    ensure!(status.success(), "the pages: {status}");
    Ok(())
}

fn found() -> Result<PathBuf> {
    browser().ok_or_else(|| skip("no Chromium (Debian: chromium, or FATHOM_CHROMIUM)"))
}

fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("FATHOM_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let places =
        std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

/// The folder in which the test left its pages.
fn written() -> Result<PathBuf> {
    let mut test = Command::new("cargo");
    test.current_dir(root())
        .args(["test", "--workspace", "--locked", "--quiet", "--test", "pages"]);
    run(&mut test).context("the test that writes the pages")?;
    Ok(target().join("tmp/pages"))
}

/// The project with what its lock names, away from the sources.
fn installed() -> Result<PathBuf> {
    let project = cache().join("pages");
    fs::create_dir_all(&project)?;
    let own = root().join("xtask/pages");
    let same = |name: &&str| fs::read(project.join(name)).ok() == fs::read(own.join(name)).ok();
    let is_there = PROJECT[..2].iter().all(same) && project.join("node_modules/axe-core").is_dir();
    for name in PROJECT {
        copied(&own.join(name), &project.join(name))?;
    }
    run(Command::new("node").arg("--version"))
        .map_err(|error| skip(format!("no Node (Debian: nodejs): {error:#}")))?;
    if !is_there {
        let mut npm = Command::new("npm");
        npm.current_dir(&project);
        run(Command::new("npm").arg("--version"))
            .map_err(|error| skip(format!("no npm (Debian: npm): {error:#}")))?;
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        let output = npm.output().context("cannot run npm")?;
        // Which error it is stands in one of several lines.
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() && NO_NETWORK.iter().any(|code| said.contains(code)) {
            return Err(skip(format!("no network for npm: {}", said.trim_end())));
        }
        ensure!(output.status.success(), "npm ci: {}", said.trim_end());
    }
    Ok(project)
}

fn copied(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(())
}
