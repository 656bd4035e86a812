//! What of a release can be checked in seconds: descriptions of the crates and their publication, which is
//! tried; workflows, recipes.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use saphyr::{LoadableYamlNode, Yaml};
use serde_json::Value;

use crate::packages::{cache, root, run};

/// Checks all of it, and says in which order the crates can be published.
pub(crate) fn check(verify: bool) -> Result<()> {
    let crates = crates()?;
    crates.iter().try_for_each(described)?;
    let published = published(verify)?;
    ensure!(published.len() == crates.len(), "of {} crates {published:?}", crates.len());
    let compiled = if verify { ", each compiled from its own files" } else { "" };
    println!(
        "crates, in an order in which they can be published{compiled}: {}",
        published.join(" ")
    );
    for entry in fs::read_dir(root().join(".github/workflows"))? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        workflow(&text).with_context(|| path.display().to_string())?;
    }
    recipe(&fs::read_to_string(root().join("release/Containerfile"))?)
}

/// Whether an image has a program and, from nothing, the folder for what is kept for a while.
fn recipe(text: &str) -> Result<()> {
    for (start, what) in [("ENTRYPOINT", "program"), ("WORKDIR /tmp", "temporary folder")] {
        ensure!(text.lines().any(|line| line.starts_with(start)), "a recipe without a {what}");
    }
    Ok(())
}

/// Publishes all crates without doing so, from a copy in which that is allowed, and compiles them if that is
/// wanted; their names, in the order in which they would go.
fn published(verify: bool) -> Result<Vec<String>> {
    let folder = cache().join("dist-publish");
    let _ = fs::remove_dir_all(&folder);
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    for path in String::from_utf8(run(&mut git)?.stdout)?.lines() {
        let from = root().join(path);
        // One that was deleted and is not committed is still listed.
        if from.is_file() {
            let to = folder.join(path);
            fs::create_dir_all(to.parent().context("a file in a folder")?)?;
            fs::copy(from, to)?;
        }
    }
    let manifest = folder.join("Cargo.toml");
    let text = fs::read_to_string(&manifest)?;
    fs::write(&manifest, text.replace("\npublish = false\n", "\npublish = true\n"))?;
    let mut publish = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    publish.current_dir(&folder).env("CARGO_TARGET_DIR", folder.join("target"));
    publish.args(["publish", "--dry-run", "--allow-dirty", "--workspace"]);
    publish.args((!verify).then_some("--no-verify"));
    publish.args(["--exclude", "fathom-xtask", "--exclude", "fathom-guest"]);
    let said = run(&mut publish).context("what would be published")?.stderr;
    let said = String::from_utf8_lossy(&said);
    let names = said.lines().filter_map(|line| line.trim().strip_prefix("Uploading "));
    Ok(names.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
}

/// What cargo says of the crates that are to be published: those in `crates/`.
fn crates() -> Result<Vec<Value>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).args(["metadata", "--no-deps", "--locked", "--format-version", "1"]);
    let mut said: Value = serde_json::from_slice(&run(&mut cargo)?.stdout)?;
    let folder = root().join("crates");
    let Value::Array(mut packages) = said["packages"].take() else { bail!("no packages") };
    packages.retain(|package| {
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        std::path::Path::new(manifest).starts_with(&folder)
    });
    Ok(packages)
}

/// Whether a crate says all that the registry wants, and cannot be published by mistake. The address of
/// its repository is for the person who publishes it.
fn described(package: &Value) -> Result<()> {
    let name = package["name"].as_str().unwrap_or_default();
    for field in ["description", "license", "readme", "rust_version"] {
        let there = package[field].as_str().is_some_and(|text| !text.is_empty());
        ensure!(there, "{name}: no {field}");
    }
    let keywords = package["keywords"].as_array().map_or(&[][..], |all| all);
    let fits = |word: &Value| word.as_str().is_some_and(|word| word.len() <= 20);
    ensure!((1..=5).contains(&keywords.len()) && keywords.iter().all(fits), "{name}: keywords");
    let closed = package["publish"].as_array().is_some_and(Vec::is_empty);
    ensure!(closed, "{name}: `publish = false` is a person's to lift");
    Ok(())
}

/// Whether a workflow has jobs, each of its scripts is one that bash can read, and each check of this
/// program that it runs exists.
fn workflow(text: &str) -> Result<()> {
    let documents = Yaml::load_from_str(text).map_err(|error| anyhow::anyhow!("{error}"))?;
    let [document] = &*documents else { bail!("{} documents", documents.len()) };
    ensure!(document.contains_mapping_key("on"), "it says not when it runs");
    let jobs = document.as_mapping_get("jobs").and_then(Yaml::as_mapping).context("no jobs")?;
    for (name, job) in jobs {
        let name = name.as_str().unwrap_or_default();
        let steps = job.as_mapping_get("steps").and_then(Yaml::as_vec).context("no steps")?;
        ensure!(!steps.is_empty() && job.contains_mapping_key("runs-on"), "{name}: runs nowhere");
        for step in steps {
            let Some(script) = step.as_mapping_get("run").and_then(Yaml::as_str) else {
                ensure!(step.contains_mapping_key("uses"), "{name}: a step that does nothing");
                continue;
            };
            run(Command::new("bash").args(["-n", "-c", script]))
                .with_context(|| script.to_owned())?;
            for words in script.split("cargo xtask ").skip(1) {
                let word = words.split_whitespace().next().unwrap_or_default();
                ensure!(crate::knows(word), "{name}: there is no `cargo xtask {word}`");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_of_a_release_was_pushed_while_that_was_a_draft() {
        let files = fs::read_dir(root().join(".github/workflows")).unwrap();
        for text in files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()) {
            let is_published = text.contains("\non:\n  release:\n    types: [published]\n");
            assert!(is_published || !text.contains("--push"), "{text}");
        }
    }

    #[test]
    fn an_image_had_no_temporary_folder() {
        assert!(recipe("FROM scratch\nWORKDIR /data\nENTRYPOINT [\"/fathom\"]\n").is_err());
        recipe("FROM scratch\nWORKDIR /tmp\nENTRYPOINT [\"/fathom\"]\n").unwrap();
    }

    #[test]
    fn the_first_push_of_a_branch_was_compared_with_forty_zeros() {
        let action = fs::read_to_string(root().join("action.yml")).unwrap();
        let script = action.split("run: |").nth(1).unwrap().split("\n    - ").next().unwrap();
        let zeros = "0".repeat(40);
        for (against, is_measured) in [("main", true), ("a0c1", true), ("", false), (&zeros, false)]
        {
            let output = tempfile::NamedTempFile::new().unwrap();
            let mut bash = Command::new("bash");
            bash.args(["-eo", "pipefail", "-c", script]).env("AGAINST", against).env("BUILD", "");
            bash.env("GITHUB_ACTION_PATH", root().join("release"));
            bash.env("GITHUB_OUTPUT", output.path());
            let said = run(&mut bash).unwrap().stdout;
            let told = fs::read_to_string(output.path()).unwrap();
            assert_eq!(told.contains("measures=yes"), is_measured, "{against:?}: {told}");
            assert_eq!(said.is_empty(), is_measured, "{against:?}");
        }
    }

    #[test]
    fn a_workflow_with_a_mistake_is_refused() {
        let good = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: cargo xtask dist --check\n";
        workflow(good).unwrap();
        for (from, to) in [
            ("on: push", "of: push"),
            ("runs-on: x", "runs: x"),
            ("run: cargo", "ran: cargo"),
            ("xtask dist", "xtask disk"),
            ("cargo xtask", "if cargo xtask"),
            ("jobs:", "jobs: ["),
        ] {
            assert!(workflow(&good.replace(from, to)).is_err(), "{to}");
        }
    }
}
