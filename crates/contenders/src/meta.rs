//! What most contenders say of themselves, in a line.

/// The [`Meta`](fathom_measure::contender::Meta) of `$name`, which is the crate `$crate_name` and is
/// described in the source file `$source`, beside the one that says so.
macro_rules! library {
    (
        $name:literal, $crate_name:literal, $licence:literal, $source:literal
        $(; $(keeps $keeps:ident)? $(,)? $(caveat $caveat:literal)?)?
    ) => {
        fathom_measure::contender::Meta {
            name: $name,
            $(
                $(keeps: fathom_measure::contender::Keeps::$keeps,)?
                $(caveat: $caveat,)?
            )?
            ..fathom_measure::contender::Meta::of_crate(
                $crate_name,
                $licence,
                include_str!($source),
            )
        }
    };
}
