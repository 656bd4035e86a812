//! Text of others made harmless: what a program complained, what a file is called, what a saved run
//! of somebody else says. No character of it moves a cursor, opens a tag or ends a table's cell.

/// For a terminal: control characters, and those that turn the direction of writing, are shown by
/// their codes. Line breaks stay where `breaks` says so.
fn shown(text: &str, breaks: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' if breaks => shown.push(c),
            c if is_hidden(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

/// Whether it moves a cursor or turns the direction of writing.
fn is_hidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One line for a terminal.
#[must_use]
pub fn line(text: &str) -> String {
    shown(text, false)
}

/// Several lines for a terminal.
#[must_use]
pub fn lines(text: &str) -> String {
    shown(text, true)
}

/// For Markdown, in a table or out of it: nothing is markup, least of all HTML.
#[must_use]
pub fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let text = line(text);
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_within =
            before.is_alphanumeric() && chars.peek().is_some_and(|c| c.is_alphanumeric());
        before = c;
        match c {
            // Within a word it stands for itself.
            '_' if is_within => escaped.push(c),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '[' | ']' | '`' | '*' | '_' | '~' | '$' | '\\' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    let start = text.len() - text.trim_start_matches(' ').len();
    let word = text[start..].split(' ').next().unwrap_or_default();
    // Behind four blanks it is code, where a backslash shows. No sign of such a word was escaped above, so that the
    // places are the same.
    if start < 4 && opens_a_block(word) {
        escaped.insert(start + word.len() - 1, '\\');
    }
    escaped
}

/// The same for a heading, whose last signs would end it and not be shown.
#[must_use]
pub fn heading(text: &str) -> String {
    let mut escaped = markdown(text.trim_end());
    let start = escaped.trim_end_matches('#').len();
    if start < escaped.len() && escaped[..start].ends_with(' ') {
        escaped.insert(start, '\\');
    }
    escaped
}

/// Whether a word at the start of a line makes it a title, a rule or an item of a list.
fn opens_a_block(word: &str) -> bool {
    let is_of = |sign: char| !word.is_empty() && word.chars().all(|c| c == sign);
    let number = word.strip_suffix(['.', ')']).unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    word == "+" || is_of('#') || is_of('-') || is_number
}

/// A command as a shell reads it back.
#[must_use]
pub fn shell(command: &[String]) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+%@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if word.chars().any(is_hidden) {
        return told(word);
    }
    // What no shell can be given stands as it is.
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}

/// A word that has what is hidden, as bash, zsh and POSIX's shell of 2024 read it back: in `$'…'`, by its codes.
fn told(word: &str) -> String {
    let mut told = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => told.extend(['\\', c]),
            '\n' => told += "\\n",
            '\t' => told += "\\t",
            c if c.is_ascii_control() => told += &format!("\\{:03o}", u32::from(c)),
            c if is_hidden(c) => told += &format!("\\u{:04x}", u32::from(c)),
            c => told.push(c),
        }
    }
    told + "'"
}

/// A file beside a page as a link to it: what has a meaning in an address has none.
#[must_use]
pub fn link(file: &str) -> String {
    let mut link = String::with_capacity(file.len());
    for byte in file.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => link.push(char::from(byte)),
            false => link.push_str(&format!("%{byte:02X}")),
        }
    }
    link
}

/// For HTML and SVG, as text or in an attribute.
#[must_use]
pub fn html(text: &str) -> String {
    let text = lines(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

/// The same where it is read, and no attribute or drawing: words written from right to left are apart from what stands
/// around them, whose numbers would be torn.
#[must_use]
pub fn prose(text: &str) -> String {
    let text = html(text);
    let (mut told, mut rest) = (String::new(), text.as_str());
    while let Some(start) = rest.find(runs_left) {
        let (before, words) = rest.split_at(start);
        let end = words.find(|c| !runs_left(c) && !" -_".contains(c)).unwrap_or(words.len());
        let words = words[..end].trim_end_matches([' ', '-', '_']);
        told.extend([before, "<bdi>", words, "</bdi>"]);
        rest = &rest[start + words.len()..];
    }
    told + rest
}

/// Whether it is of Hebrew, Arabic or another of the blocks that Unicode keeps for such scripts.
fn runs_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_command_back() {
        let words = ["fathom", "run", "echo \"it's\" | cat", "--budget=1s", ""].map(str::to_owned);
        let line = shell(&words);
        assert_eq!(shlex::split(&line).unwrap(), words);
        assert!(line.contains(" --budget=1s "), "{line}");
        // What was shown by its codes in `'…'` was read back as those.
        let hidden = "a\tb\n'\u{1b}\u{202e}".to_owned();
        assert_eq!(shell(&[hidden]), r"$'a\tb\n\'\033\u202e'");
    }

    #[test]
    fn a_link_leads_to_the_file_of_that_name() {
        assert_eq!(link("a#b?c%20d:é.run.html"), "a%23b%3Fc%2520d%3A%C3%A9.run.html");
        assert_eq!(link("2026-11-25T224243Z-run_2.run.html"), "2026-11-25T224243Z-run_2.run.html");
    }

    /// `12 1.31x` behind such a word was shown as `1.31x 12`.
    #[test]
    fn words_from_right_to_left_tear_no_numbers() {
        assert_eq!(prose("שלום עולם 12 1.31x"), "<bdi>שלום עולם</bdi> 12 1.31x");
        assert_eq!(
            prose("<مرحبا> - ab, שלום - 2"),
            "&lt;<bdi>مرحبا</bdi>&gt; - ab, <bdi>שלום</bdi> - 2"
        );
        assert_eq!(prose("a & b"), html("a & b"));
    }

    #[test]
    fn nothing_of_others_is_a_command_to_a_terminal_or_a_tag() {
        assert_eq!(line("a\x1b[2Jb\r\nc\u{202e}"), "a\\u{1b}[2Jb\\r\\nc\\u{202e}");
        assert_eq!(lines("ä\n\u{9b}b"), "ä\n\\u{9b}b");
        assert_eq!(markdown("<script>|`![x](y)"), "&lt;script&gt;\\|\\`!\\[x\\](y)");
        assert_eq!(html("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
        assert_eq!(markdown("sort_unstable a-b 1.5x"), "sort_unstable a-b 1.5x");
        assert_eq!(markdown("__main__ ~~b~~ $A"), "\\_\\_main\\_\\_ \\~\\~b\\~\\~ \\$A");
        // At the start of an item of a list they were a title and lists.
        let opening = ["# a", " ## a", "1. a", "12) a", "+ a", "- a", "---", "-"].map(markdown);
        let escaped = [r"\# a", r" #\# a", r"1\. a", r"12\) a", r"\+ a", r"\- a", r"--\-", r"\-"];
        assert_eq!(opening, escaped);
        // At the end of a heading they were lost.
        let ends = ["a #", "a ## ", "a#", "a #b", "#"].map(heading);
        assert_eq!(ends, [r"a \#", r"a \##", "a#", "a #b", r"\#"]);
        for plain in ["-x a", "#1 a", "1.5x a", "+5 a", "a - b", "1.002 ms", "    # a"] {
            assert_eq!(markdown(plain), plain);
        }
    }
}
