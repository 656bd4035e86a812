//! Pages as users ask for them: `--format html`, `--open`, and `report` of a folder. What is on them is
//! tested in `fathom-report`; how they look, in a browser (`cargo xtask pages`).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn fathom(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    let browser = folder.join("browser");
    command.args(arguments).current_dir(folder).env("BROWSER", browser).env("TMPDIR", folder);
    command.output().unwrap()
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = fathom(folder, arguments);
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{out}\n{err}");
    out + &err
}

/// A folder with a browser that notes what it is shown, and two saved runs.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let browser = folder.path().join("browser");
    fs::write(&browser, "#!/bin/sh\necho \"$1\" >\"$TMPDIR/shown\"\n").unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(folder.path().join("runs")).unwrap();
    for name in ["a", "b"] {
        let file = format!("runs/{name}.json");
        let run =
            ["run", "-N", "-r", "3", "true", "echo 'a b'", "--style", "none", "--save", &file];
        done(folder.path(), &run);
    }
    folder
}

/// What the browser was shown, as soon as it was.
fn shown(folder: &Path) -> String {
    let note = folder.join("shown");
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let path = fs::read_to_string(&note).unwrap_or_default();
        if !path.is_empty() {
            fs::remove_file(&note).unwrap();
            let path = path.trim().trim_start_matches("file://");
            return fs::read_to_string(path).unwrap_or_else(|_| panic!("{path}"));
        }
        assert!(Instant::now() < until, "no browser was started");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn open_shows_the_page_in_the_browser() {
    let folder = folder();
    let folder = folder.path();
    let said = done(folder, &["report", "runs/a.json", "--open"]);
    assert!(said.starts_with("fathom: the page is ") && !said.contains("<html"), "{said}");
    let page = shown(folder);
    assert!(page.contains("fathom run -N -r 3 true &quot;echo 'a b'&quot; --style none"), "{page}");
    // Three rounds tell nothing.
    let diff = fathom(folder, &["diff", "runs/a.json", "runs/b.json", "--open", "-o", "d.html"]);
    assert_eq!(diff.status.code(), Some(1), "{diff:?}");
    assert_eq!(shown(folder), fs::read_to_string(folder.join("d.html")).unwrap());
    done(folder, &["history", "runs", "--open"]);
    assert!(shown(folder).contains("Median time of each run"));
    fs::write(folder.join("rows.txt"), "a;1.0\nb;2.0\na;3.0\n").unwrap();
    done(folder, &["aggregate", "--open", "rows.txt"]);
    let page = shown(folder);
    assert!(page.contains("<h1>2 keys</h1>"), "{page}");
    assert!(page.contains("<td class=\"n\">2.000</td>"), "{page}");
    let both = fathom(folder, &["report", "runs/a.json", "--open", "--format", "csv"]);
    assert_eq!(both.status.code(), Some(2), "a browser shows pages only");
    fs::remove_file(folder.join("browser")).unwrap();
    let none = fathom(folder, &["report", "runs/a.json", "--open", "-o", "page.html"]);
    assert_ne!(none.status.code(), Some(0));
    let words = String::from_utf8(none.stderr).unwrap();
    assert!(words.contains("$BROWSER") && folder.join("page.html").is_file(), "{words}");
}

#[test]
fn a_folder_of_runs_has_an_index_and_pages() {
    let folder = folder();
    let folder = folder.path();
    let listed = done(folder, &["report", "runs"]);
    assert_eq!(listed.lines().count(), 2, "{listed}");
    let alone = done(folder, &["report", "runs", "--format", "html"]);
    assert!(alone.contains("<h1>2 saved runs</h1>") && !alone.contains("<a href"), "{alone}");
    done(folder, &["report", "runs", "--format", "html", "-o", "site"]);
    let index = fs::read_to_string(folder.join("site/index.html")).unwrap();
    for name in ["a", "b"] {
        assert!(index.contains(&format!("<a href=\"{name}.run.html\">{name}</a>")), "{index}");
        let page = fs::read_to_string(folder.join(format!("site/{name}.run.html"))).unwrap();
        let again = done(folder, &["report", &format!("runs/{name}.json"), "--format", "html"]);
        assert_eq!(page, again);
    }
    fs::create_dir(folder.join("odd")).unwrap();
    fs::copy(folder.join("runs/a.json"), folder.join("odd/a#b?c%20d.json")).unwrap();
    done(folder, &["report", "odd", "--format", "html", "-o", "site"]);
    let index = fs::read_to_string(folder.join("site/index.html")).unwrap();
    assert!(index.contains("<a href=\"a%23b%3Fc%2520d.run.html\">a#b?c%20d</a>"), "{index}");
    // It is no file, whatever its name.
    fs::create_dir(folder.join("runs/folder.json")).unwrap();
    assert_eq!(done(folder, &["report", "runs"]), listed);
    fs::write(folder.join("runs/c.json"), "{}").unwrap();
    let partly = fathom(folder, &["report", "runs"]);
    assert_eq!(partly.status.code(), Some(1), "one of them is none");
    let csv = fathom(folder, &["report", "runs", "--format", "csv"]);
    assert!(String::from_utf8(csv.stderr).unwrap().contains("text or html"));
}

#[test]
fn a_profile_is_a_page_of_its_zones() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(folder, &["generate", "pairs", "-c", "2000", "-o", "pairs.json"]);
    let profile = ["--profile", "--profile-format", "html", "--profile-output", "profile.html"];
    done(folder, &[&["haversine", "pairs.json"][..], &profile].concat());
    let page = fs::read_to_string(folder.join("profile.html")).unwrap();
    assert!(page.contains("thread 0") && page.contains("<h2>Zones</h2>"), "{page}");
    assert!(page.contains("/s</td>"), "a bandwidth");
}

#[cfg(feature = "kv")]
#[test]
fn what_kv_advises_is_on_the_page_of_the_saved_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let words: Vec<String> = (0..300).map(|i| format!("word-{i}")).collect();
    fs::write(folder.join("words.txt"), words.join("\n")).unwrap();
    let kv = [
        "kv", "words.txt", "-F", "lines", "-d", "std,hashbrown", "-h", "foldhash", "--budget", "1s",
    ];
    let page = fathom(folder, &[&kv[..], &["--save", "kv.json", "--format", "html"]].concat());
    let page = String::from_utf8(page.stdout).unwrap();
    let said = fathom(folder, &["report", "kv.json", "--format", "html"]);
    assert!(page == String::from_utf8(said.stdout).unwrap(), "the saved run has another page");
    for part in
        ["ns per operation", "<h2>Time and memory</h2>", "300 distinct", "Tails of single inserts"]
    {
        assert!(page.contains(part), "no {part} in {page}");
    }
    // Judged anew, the advice would be about another baseline.
    let anew =
        fathom(folder, &["report", "kv.json", "--format", "html", "--baseline", "std+foldhash"]);
    assert!(!String::from_utf8(anew.stdout).unwrap().contains("Time and memory"));
}
