//! The form for people out of a library's own reader and writer: what is read goes straight to a writer
//! that puts CR, LF and tabs before each member. The libraries' traits of writers are alike but not the
//! same, hence a macro. The form without quotes around names is no JSON, and no library writes it.

/// Defines `human` for the library of this name.
macro_rules! human {
    ($library:ident, $formatter:path) => {
        /// The text for people; nothing where it is no JSON.
        fn human(text: &[u8]) -> Option<Vec<u8>> {
            let out = Vec::with_capacity(text.len() + text.len() / 2);
            let mut reader = $library::Deserializer::from_slice(text);
            let mut writer = $library::Serializer::with_formatter(out, Lines::default());
            serde_transcode::transcode(&mut reader, &mut writer).ok()?;
            reader.end().ok()?;
            Some(writer.into_inner())
        }

        /// Where the writer is.
        #[derive(Clone, Default)]
        struct Lines {
            depth: usize,
            /// Whether the container that is written has members.
            is_filled: bool,
        }

        impl Lines {
            fn open(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
                self.depth += 1;
                self.is_filled = false;
                out.write_all(bracket)
            }

            fn close(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
                self.depth -= 1;
                if self.is_filled {
                    self.line(out)?;
                }
                self.is_filled = true;
                out.write_all(bracket)
            }

            fn member(&mut self, out: &mut (impl Write + ?Sized), first: bool) -> io::Result<()> {
                if !first {
                    out.write_all(b",")?;
                }
                self.is_filled = true;
                self.line(out)
            }

            fn line(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
                out.write_all(b"\r\n")?;
                (0..self.depth).try_for_each(|_| out.write_all(b"\t"))
            }
        }

        impl $formatter for Lines {
            fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
                self.open(out, b"[")
            }

            fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
                self.close(out, b"]")
            }

            fn begin_array_value<W: ?Sized + Write>(
                &mut self,
                out: &mut W,
                first: bool,
            ) -> io::Result<()> {
                self.member(out, first)
            }

            fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
                self.open(out, b"{")
            }

            fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
                self.close(out, b"}")
            }

            fn begin_object_key<W: ?Sized + Write>(
                &mut self,
                out: &mut W,
                first: bool,
            ) -> io::Result<()> {
                self.member(out, first)
            }

            fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
                out.write_all(b": ")
            }
        }

        #[cfg(test)]
        mod human_tests {
            #[test]
            fn the_form_is_that_of_the_definition() {
                let nested = "[".repeat(40) + &"]".repeat(40);
                let text = br#" { "a" : 1 , "b c" : [ 1 , -2, { } , [ ] ], "": {"$x":"\"\\"}, "n": null} "#;
                for text in [&text[..], b"[]", b"[[],[1]]", b" true ", nested.as_bytes()] {
                    let expected = super::super::rewrite::plain_human(text).unwrap();
                    assert_eq!(super::human(text), Some(expected), "{}", text.escape_ascii());
                }
                for text in ["", "{", "[1,]", "[] []", "{\"a\"}"] {
                    assert_eq!(super::human(text.as_bytes()), None, "{text}");
                }
            }
        }
    };
}
pub(super) use human;
