//! What a policy is told about a problem.

use crate::policy::{Chat, Message, Speaker};

/// The problem of the worked example.
pub const EXAMPLE_PROBLEM: &str = include_str!("example/problem.py");
/// An answer to it.
pub const EXAMPLE_ANSWER: &str = include_str!("example/answer.py");

/// What an answer has to be.
const RULES: &str = "\
- Write the class `ModelNew`. Its constructor takes the same arguments as that of `Model`, and its \
`forward` takes the same arguments and returns tensors of the same shapes and types.
- If `Model` has parameters, create the same ones in the same order, so that both get the same values.
- Do all of the computing in your own CUDA kernels, which `load_inline` of \
`torch.utils.cpp_extension` compiles. PyTorch may only allocate memory and make views of it. Do not \
call functions or layers of PyTorch that compute, and use no other library such as cuBLAS or cuDNN.
- Every tensor is on the GPU, and the inputs are contiguous. Kernels get pointers by `data_ptr`.
- Kernels must be right for every size that the problem's shapes lead to. Check the bounds.
- Do not write to the inputs. Return new tensors.";

/// Asks for a fast answer to a problem, which `source` is the Python of.
pub fn prompt(source: &str) -> Chat {
    let (problem, example, answer) = (source.trim(), EXAMPLE_PROBLEM.trim(), EXAMPLE_ANSWER.trim());
    let content = format!(
        "You write fast CUDA for PyTorch. You get a PyTorch module called `Model`, and you write a \
         module that computes the same and takes less time.\n\n\
         The rules:\n{RULES}\n\n\
         Here is an example. For this module\n\n```python\n{example}\n```\n\n\
         an answer is\n\n```python\n{answer}\n```\n\n\
         Now do the same for this module:\n\n```python\n{problem}\n```\n\n\
         Answer with one block of Python that begins with ```python and holds everything, with its \
         imports. Write no tests and no other code."
    );
    Chat {
        messages: vec![Message {
            role: Speaker::User,
            content,
        }],
        begun: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_holds_the_rules_an_example_and_the_problem() {
        let chat = prompt("\nclass Model: pass\n\n");
        let [message] = &chat.messages[..] else {
            panic!("{chat:?}");
        };
        assert_eq!((message.role, chat.begun.as_str()), (Speaker::User, ""));
        let text = &message.content;
        for part in [
            "class `ModelNew`",
            "load_inline",
            "return a + b",
            "add_kernel<<<",
            "```python\nclass Model: pass\n```\n",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }
}
