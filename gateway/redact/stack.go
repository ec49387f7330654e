package redact

import (
	"regexp"
	"strings"
)

// Parts of the expressions below. A line may begin at the beginning of the text or of a string, or after a line break,
// which may be escaped, since a stack trace is often in a JSON string.
const (
	newline = `(?:[\r\x02]?[\n\x01]|(?:\\+r)?\\+n|\A|")`
	indent  = `(?:[ \t\x03]|\\+t)`
	inPath  = `[^\s"\x01-\x04]`
	inLine  = `[^\r\n"\x01\x02]`
)

var (
	// Java, Kotlin, Scala; JavaScript; .NET: "at", the name of a function, and its position.
	frames = regexp.MustCompile(`(` + newline + `)` + indent + `*at (?:` +
		`(?:async |new )?` + `[^\s()"\\\x01-\x04]+(?: \[as [^\]"\r\n\x01\x02]+\])?` + indent + `?\((?:[^()"\r\n\x01\x02]|\([^()"\r\n\x01\x02]*\))*\)(?: in ` + inLine + `+:line \d+)?(?: ~?\[[^\]"\r\n\x01\x02]*\])?` +
		`|(?:async )?(?:file:|node:|\\?/|[A-Za-z]:)` + inPath + `+:\d+(?::\d+)?)`)
	more     = regexp.MustCompile(newline + indent + `*\.\.\. \d+ (?:more|common frames omitted)`)
	dotNET   = regexp.MustCompile(newline + indent + `*--- End of [a-z ]*stack trace[a-z ]*---`)
	headings = regexp.MustCompile(`(?i)(` + newline + `)` + indent + `*(?:stack ?trace:|call stack:|\(most recent call first\):|During handling of the above exception, another exception occurred:|stack (?:backtrace|traceback):|coroutine \d+:|CallStack \(from HasCallStack\):|` +
		`The above exception was the direct cause of the following exception:|Traceback \(most recent call last\):)`)
	// Python: the position, the line of source, and marks below it.
	python = regexp.MustCompile(`(` + newline + `)` + indent + `*File \\*\x04[^"\r\n\x01\x02\x04]+\x04, line \d+(?:, in ` + inLine + `+)?(?:` + newline + indent + `{2,}` + inLine + `+)?(?:` + newline + indent + `{2,}[~^ ]+)?`)
	// Go: a function with its arguments, and the file on the next line.
	goroutine = regexp.MustCompile(newline + `?goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[[^\]\r\n"\x01\x02]+\]:`)
	golang    = regexp.MustCompile(newline + `(?:created by )?[A-Za-z0-9_./*()\[\]{}…-]+(?:\((?:[^()\r\n"\x01\x02]|\([^()\r\n"\x01\x02]*\))*\))?(?: in goroutine \d+)?` + newline + indent + `+` + inPath + `+\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?`)
	// PHP and Ruby.
	php     = regexp.MustCompile(newline + indent + `*#\d{1,4} (?:\{main\}|` + inLine + `+(?:\(\d+\))?: ` + inLine + `+|\[internal function\]: ` + inLine + `+)`)
	ruby    = regexp.MustCompile(newline + indent + `*from ` + inPath + `+\.(?:rb|erb|rake|ru):\d+:in [` + "`'" + `][^'"\r\n\x01\x02]+'`)
	rubyTop = regexp.MustCompile(inPath + `+\.(?:rb|erb|rake|ru):\d+:in [` + "`'" + `][^'"\r\n\x01\x02]+': `)
	// Rust; Elixir and Erlang; Lua; Dart; C and C++, as debuggers and sanitizers write it; Haskell; Julia; OCaml; Perl.
	rust    = regexp.MustCompile(newline + indent + `*\d{1,4}: +` + inLine + `+?` + newline + indent + `+at ` + inPath + `+:\d+(?::\d+)?`)
	rustTop = regexp.MustCompile(`( panicked) at ` + inPath + `+:\d+:\d+`)
	elixir  = regexp.MustCompile(newline + indent + `{2,}(?:\([a-z0-9_]+ \d[^()\s]*\) )?` + inPath + `+\.(?:exs?|erl|eex|heex|leex):\d+: ` + inLine + `+`)
	lua     = regexp.MustCompile(newline + indent + `+(?:\[C\]|\[string [^\]\r\n"\x01\x02]+\]|` + inPath + `+)(?::\d+)?: in ` + inLine + `+`)
	dart    = regexp.MustCompile(newline + `#\d{1,4} {2,}` + inLine + `+\((?:package|dart|file):[^()\s\x01-\x04]+\)`)
	native  = regexp.MustCompile(newline + indent + `*#\d{1,4} +0x[0-9a-f]+ in ` + inLine + `+`)
	haskell = regexp.MustCompile(newline + indent + `+` + inPath + `+, called at ` + inPath + `+:\d+:\d+ in ` + inLine + `+`)
	julia   = regexp.MustCompile(newline + indent + `*\[\d{1,4}\] ` + inLine + `+ @ ` + inLine + `+`)
	ocaml   = regexp.MustCompile(newline + `(?:Raised|Re-raised|Called|Raised by primitive operation) (?:at|from) ` + inLine + `+, lines? [0-9-]+, characters [0-9-]+`)
	perl    = regexp.MustCompile(newline + indent + `+` + inPath + `+\(` + inLine + `*\) called at ` + inPath + `+ line \d+\.?`)
	// .NET with a localized runtime.
	foreign = regexp.MustCompile(newline + indent + `{2,}(?:bei|à|en|em|w|в|在|場所) [^\s()"\x01-\x04]+\.[^\s()"\x01-\x04]+\([^()"\r\n\x01\x02]*\)(?: [^\s"\x01-\x04]{1,12} ` + inLine + `+)?`)
	// The file that PHP, Perl and others name as the origin of an error.
	file = regexp.MustCompile(`(?i) +(?:thrown )?(?:in|at) (?:[A-Za-z]:|\\?/)` + inPath + `+\.[A-Za-z]{1,5}(?: on)?(?: line |:)\d+`)
)

// withoutStacks removes the frames of stack traces. The name and the message of the exception stay.
func withoutStacks(text string) string {
	back := `"`
	if isJSON(text) {
		back = `\"`
		text = innerQuotes.Replace(text)
	} else {
		text = strings.ReplaceAll(text, back, quote)
	}
	if containsAny(text, "panicked at ", "acktrace:") {
		text = rust.ReplaceAllStringFunc(text, atStart)
		text = rustTop.ReplaceAllString(text, "${1}")
	}
	if containsAny(text, "\tat ", "  at ", tab+"at ", `tat `, `"at `, "\nat ", lineFeed+"at ") {
		text = frames.ReplaceAllStringFunc(text, atStart)
		text = dotNET.ReplaceAllStringFunc(text, atStart)
		text = more.ReplaceAllStringFunc(text, atStart)
	}
	if strings.Contains(text, "goroutine ") {
		text = golang.ReplaceAllStringFunc(text, atStart)
		text = goroutine.ReplaceAllStringFunc(text, atStart)
	}
	if strings.Contains(text, "File ") {
		text = python.ReplaceAllStringFunc(text, atStart)
	}
	if strings.Contains(text, "#0") || strings.Contains(text, "#1") {
		text = dart.ReplaceAllStringFunc(text, atStart)
		text = native.ReplaceAllStringFunc(text, atStart)
		text = php.ReplaceAllStringFunc(text, atStart)
	}
	text = withoutRareStacks(text)
	if strings.Contains(text, ":in ") {
		text = ruby.ReplaceAllStringFunc(text, atStart)
		text = rubyTop.ReplaceAllString(text, "")
	}
	if containsAny(text, "race", "stack", "most recent call", "exception") {
		text = headings.ReplaceAllStringFunc(text, atStart)
	}
	if containsAny(text, "in /", "at /", `in \/`, `at \/`, `:\`) {
		text = file.ReplaceAllString(text, "")
	}
	text = withoutPaths(text)
	return strings.ReplaceAll(text, quote, back)
}

// innerQuotes replaces the quotes of JSON that do not end a string.
var innerQuotes = strings.NewReplacer(`\\`, `\\`, `\"`, quote)

// withoutRareStacks removes the frames of rare kinds of stack traces.
func withoutRareStacks(text string) string {
	for _, rare := range []struct {
		sign   string
		frames *regexp.Regexp
	}{
		{".ex", elixir}, {".erl:", elixir}, {": in ", lua}, {", called at ", haskell}, {"] ", julia}, {", characters ", ocaml}, {") called at ", perl},
		{"  bei ", foreign}, {"  à ", foreign}, {"  en ", foreign}, {"  em ", foreign}, {"  w ", foreign}, {"  в ", foreign}, {"  在 ", foreign}, {"  場所 ", foreign},
	} {
		if strings.Contains(text, rare.sign) && (rare.frames != julia || strings.Contains(text, " @ ")) {
			text = rare.frames.ReplaceAllStringFunc(text, atStart)
		}
	}
	return text
}

// atStart keeps the quote that begins a string, and removes everything else.
func atStart(found string) string {
	if strings.HasPrefix(found, `"`) {
		return `"`
	}
	return ""
}
