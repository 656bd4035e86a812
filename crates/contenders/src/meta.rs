//! What most contenders say of themselves, in a line.

/// The [`Meta`](fathom_measure::contender::Meta) of `$name`, which is the crate `$crate_name` and is
/// described in the source file `$source`, beside the one that says so.
#[cfg(feature = "kv")]
macro_rules! library {
    (
        $name:literal, $crate_name:literal, $licence:literal, $source:literal
        $(; $(keeps $keeps:ident)? $(,)? $(caveat $caveat:literal)? $(feature $feature:literal)?
        $(, code $code:ty)?)?
    ) => {{
        $($(
            /// That this is a type of that crate.
            const _: () = {
                #[allow(dead_code, reason = "not every structure has all three")]
                mod parameters {
                    pub(super) type K = &'static [u8];
                    pub(super) type V = u64;
                    pub(super) type S = std::hash::RandomState;
                }
                #[allow(unused_imports, reason = "likewise")]
                use parameters::*;
                let _ = std::mem::size_of::<$code>();
            };
        )?)?        fathom_measure::contender::Meta {
            name: $name,
            $(
                $(keeps: fathom_measure::contender::Keeps::$keeps,)?
                $(caveat: $caveat,)?
                $(code: stringify!($code),)?
                $(feature: $feature,)?
            )?
            ..fathom_measure::contender::Meta::of_crate(
                $crate_name,
                $licence,
                include_str!($source),
            )
        }
    }};
}
