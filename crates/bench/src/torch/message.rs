//! What the jailed interpreter says, read as data: any bytes, no panic.

use serde::{Deserialize, Serialize};

use super::element::Wire;

/// An element type's name and a shape.
pub type Shape = (String, Vec<u64>);

/// One thing that the interpreter says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Message {
    /// The stand-in is loaded; nobody else's code has run.
    Ready(bool),
    /// What a problem is made of.
    Facts(Facts),
    /// Why a problem could not be read.
    Failed(String),
    Build(Build),
    /// The parameters of the constructed module, in their order.
    Model(Vec<Parameter>),
    /// Bytes of new memory, and the pattern that fills it.
    Allocate((u64, Option<String>)),
    /// Copies the second tensor to the first.
    Copy((Wire, Wire)),
    /// Sets a tensor to a pattern.
    Set((Wire, String)),
    Call(Call),
    /// What `forward` returned: the end.
    Output(Vec<Wire>),
    Refused(String),
    Crashed(String),
    Malformed(String),
}

/// A parameter of a module: its name, its type, its shape, and the pattern that fills it where its
/// numbers are known.
pub(super) type Parameter = (String, String, Vec<u64>, Option<String>);

/// The sources of an extension.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Build {
    pub(super) name: String,
    pub(super) cpp: String,
    pub(super) cuda: String,
    pub(super) functions: Option<Vec<String>>,
}

/// A call of an extension's function.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) extension: usize,
    pub(super) function: String,
    pub(super) arguments: Vec<Value>,
    pub(super) named: std::collections::BTreeMap<String, Value>,
}

/// A value that goes into a call, or comes out of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Value {
    None(bool),
    Tensor(Wire),
    Int(i64),
    /// The bits of a double: JSON has no infinities.
    Float(u64),
    Bool(bool),
    Text(String),
    List(Vec<Self>),
}

/// What a problem is made of, as shapes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// The arguments of `forward`.
    pub inputs: Vec<Input>,
    /// Parameters and buffers by name, in the order of `state_dict`.
    pub parameters: Vec<(String, String, Vec<u64>)>,
    /// What `Model` returns; nothing if the stand-in does not know.
    pub outputs: Option<Vec<Shape>>,
    /// Why the outputs are not known.
    pub unknown: Option<String>,
}

/// An argument of `forward`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// A tensor.
    Tensor(Shape),
    /// A number or another value, which goes to the answer as it is.
    Value(String),
}

/// Reads one frame.
pub(super) fn read(bytes: &[u8]) -> Result<Message, String> {
    serde_json::from_slice(bytes).map_err(|_| "what the interpreter said is no message".to_owned())
}

/// Words of an answer, as they may stand in a verdict.
pub(super) fn shown(text: &str) -> String {
    let is_shown = |c: &char| !c.is_control() || *c == '\n';
    text.chars().filter(is_shown).take(1000).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_no_bytes_are_believed() {
        let call = br#"{"call":{"extension":0,"function":"f","arguments":[{"int":3},{"none":true}],"named":{}}}"#;
        let read_call = read(call).unwrap();
        assert!(matches!(read_call, Message::Call(call) if call.arguments[0] == Value::Int(3)));
        assert_eq!(read(br#"{"ready":true}"#), Ok(Message::Ready(true)));
        for bytes in [
            &b"\xff\xfe"[..],
            b"{}",
            b"[]",
            br#"{"verdict":"correct"}"#,
            br#"{"allocate":[-1,null]}"#,
            br#"{"output":[{"storage":0}]}"#,
            br#"{"call":{"extension":-1,"function":"f","arguments":[],"named":{}}}"#,
        ] {
            assert!(read(bytes).is_err());
        }
        let deep = format!("{{\"call\":{}", "[".repeat(100_000));
        assert!(read(deep.as_bytes()).is_err());
    }
}
