//! The function of a host half that is recorded, and the code that calls it.

use std::fmt::Write;

use hotloop_flow::interface::{Arg, Function, Kind};

/// A parameter of an entry point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// An address of the GPU.
    Pointer,
    /// A number by value.
    Scalar(Kind),
}

/// An entry point: `solve`, `reference`, `check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
}

impl Entry {
    /// What a candidate defines.
    pub(crate) fn of(function: &Function) -> Self {
        Self {
            name: function.entry.clone(),
            parameters: function.parameters().map(Parameter::of).collect(),
        }
    }

    /// A task's `reference`: after each output it takes the scale of its elements.
    pub(crate) fn reference(function: &Function) -> Self {
        let repeated = |arg: &Arg| vec![Parameter::of(arg); 1 + usize::from(arg.is_output())];
        Self {
            name: "reference".into(),
            parameters: function.parameters().flat_map(repeated).collect(),
        }
    }

    /// A task's `check`: at the end it takes the random vector and what it writes.
    pub(crate) fn check(function: &Function) -> Self {
        let mut check = Self::of(function);
        check.name = "check".into();
        check.parameters.extend([Parameter::Pointer; 4]);
        check
    }

    /// `hotloop_call(arguments)`: calls it with what the array points to.
    pub(super) fn shim(&self) -> String {
        let kinds: Vec<&str> = self.parameters.iter().map(|of| of.in_c()).collect();
        let mut values = String::new();
        for (index, (parameter, kind)) in self.parameters.iter().zip(&kinds).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            match parameter {
                Parameter::Pointer => write!(values, "{comma}a[{index}]"),
                Parameter::Scalar(_) => write!(values, "{comma}*(const {kind} *)a[{index}]"),
            }
            .expect("a string takes all");
        }
        let (name, kinds) = (&self.name, kinds.join(", "));
        format!(
            "struct Half {{ unsigned short bits; }};\n\
             extern \"C\" void {name}({kinds});\n\
             extern \"C\" void hotloop_call(void *const *a) {{ {name}({values}); }}\n"
        )
    }
}

impl Parameter {
    fn of(arg: &Arg) -> Self {
        if arg.is_buffer() {
            Self::Pointer
        } else {
            Self::Scalar(arg.kind)
        }
    }

    fn in_c(self) -> &'static str {
        match self {
            Self::Pointer => "void *",
            Self::Scalar(Kind::F64) => "double",
            Self::Scalar(Kind::F32) => "float",
            Self::Scalar(Kind::F16 | Kind::Bf16) => "Half",
            Self::Scalar(Kind::I32) => "int",
            Self::Scalar(Kind::I64) => "long long",
        }
    }
}
