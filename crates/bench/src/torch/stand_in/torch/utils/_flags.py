"""The flags of `load_inline`: definitions become text, and the others change nothing that is recorded."""

import re
import shlex

import link

# Flags that change how fast code is or what it prints, and nothing that it is.
HARMLESS = ("-O", "-g", "-std=", "-f", "-W", "-w", "-m", "-lineinfo", "--use_fast_math", "-use_fast_math",
            "-arch=", "--gpu-architecture=", "-gencode=", "--generate-code=", "--expt", "-expt", "--extended-lambda", "-extended-lambda",
            "-U__CUDA_NO", "--ptxas-options=", "-Xptxas=", "-Xcompiler=", "--compiler-options=",
            "--maxrregcount=", "-maxrregcount=", "--extra-device-vectorization", "-t=", "--threads=", "-v",
            "--verbose", "-rdc=false", "-lcudart", "-lm", "-L", "--ftz=", "-ftz=", "--prec", "-prec", "--fmad=",
            "-fmad=", "--std=", "--restrict", "-restrict", "-diag-suppress=", "--diag-suppress=", "-Xcudafe=",
            "--optimize=", "-split-compile=", "--split-compile=")
# Flags whose value may be the next word.
TWO_WORDS = {
    "-std", "--std", "-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode", "--generate-code",
    "-Xptxas", "--ptxas-options", "-Xcompiler", "--compiler-options", "-Xcudafe", "-maxrregcount",
    "--maxrregcount", "-t", "--threads", "-diag-suppress", "--diag-suppress", "-ftz", "--ftz", "-prec-div",
    "--prec-div", "-prec-sqrt", "--prec-sqrt", "-fmad", "--fmad", "-O", "--optimize", "-split-compile",
    "--split-compile",
}
NAME = re.compile(r"[A-Za-z_]\w*(\([\w\s,.]*\))?")


def definitions(flags):
    """The `#define` lines that flags stand for; what changes more than optimisation is refused."""
    words = []
    for flag in flags or []:
        try:
            words.extend(shlex.split(str(flag)))
        except ValueError as error:
            link.refuse(f"the flag `{flag}` of load_inline cannot be read: {error}")
    lines = []
    words.reverse()
    while words:
        word = words.pop()
        if word in ("-D", "-U", "--define-macro", "--undefine-macro") and words:
            short = "-U" if word in ("-U", "--undefine-macro") else "-D"
            word = short + words.pop()
        if word.startswith("--define-macro="):
            word = "-D" + word.partition("=")[2]
        if word.startswith("-D"):
            lines.append(_defined(word))
        elif word.startswith("-U") and NAME.fullmatch(word[2:]):
            lines.append(f"#undef {word[2:]}\n")
        elif word in TWO_WORDS and words and not words[-1].startswith(("-D", "-I", "-l", "-include")):
            words.pop()
        elif not word.startswith(HARMLESS):
            link.refuse(f"the flag `{word}` of load_inline changes more than optimisation")
    return "".join(lines)


def _defined(word):
    name, _, value = word[2:].partition("=")
    if not NAME.fullmatch(name) or "\n" in value or value.endswith("\\"):
        link.refuse(f"the flag `{word}` of load_inline defines no macro")
    return f"#define {name} {value if '=' in word else 1}\n"
