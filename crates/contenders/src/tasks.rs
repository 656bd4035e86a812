//! A family's operations in one list: their names and sentences for users, their values for the code,
//! and what is special about them for the commands.

use fathom_measure::workload::{Offer, Spec};

/// An operation of this name.
pub(crate) const fn offer(name: &'static str, doc: &'static str) -> Offer {
    parameter(name, "", doc)
}

/// A parameter of this name.
pub(crate) const fn parameter(
    name: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Offer {
    Offer { name, default, doc }
}

/// Each of the operations with each of the values of a parameter.
pub(crate) fn each(operations: &[Offer], parameter: &str, values: &[&str]) -> Vec<Spec> {
    let case = |offer: &Offer| {
        let name = offer.name;
        values.iter().map(move |value| Spec::new(name, &[(parameter, value)]))
    };
    operations.iter().flat_map(case).collect()
}

/// Defines an enumeration of operations and lists them: a variant, its name, its sentence, and those
/// fields of a `Task` that are not the usual ones.
macro_rules! tasks {
    ($(#[$about:meta])* $enum:ident {
        $($variant:ident $name:literal $doc:literal $(, $field:ident: $value:expr)*;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $enum {
            $(#[doc = $doc] $variant,)*
        }
        $crate::tasks::listed! {
            $enum { $(($enum::$variant) $name $doc $(, $field: $value)*;)* }
        }
    };
}
pub(crate) use tasks;

/// The same for values of a type that is defined elsewhere.
macro_rules! listed {
    ($enum:ident {
        $(($value:expr) $name:literal $doc:literal $(, $field:ident: $fact:expr)*;)*
    }) => {
        impl $enum {
            const EACH: &[($enum, &str)] = &[$(($value, $name),)*];
            const OFFERS: &[::fathom_measure::workload::Offer] = &[
                $(::fathom_measure::workload::Offer { name: $name, default: "", doc: $doc },)*
            ];
            const TASKS: &[::fathom_measure::facts::Task] = &[
                $(::fathom_measure::facts::Task {
                    operation: $name,
                    $($field: $fact,)*
                    ..::fathom_measure::facts::Task::NONE
                },)*
            ];

            /// That of a complete spec.
            fn of(spec: &::fathom_measure::workload::Spec) -> $enum {
                let found = Self::EACH.iter().find(|(_, name)| *name == spec.operation);
                found.expect("a complete spec names one of the operations").0
            }

            /// What a contender without this operation answers.
            #[allow(dead_code)] // by contenders that other builds have
            pub(super) fn unsupported<'w>(self) -> ::fathom_measure::contender::Preparation<'w> {
                let found = Self::EACH.iter().find(|(value, _)| *value == self);
                let name = found.map_or("", |(_, name)| name);
                Err(::fathom_measure::contender::Unsupported::operation(name))
            }
        }
    };
}
pub(crate) use listed;
