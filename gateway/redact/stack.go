package redact

import (
	"regexp"
	"strings"
)

// Parts of the expressions below. A line may begin at the beginning of the text or of a string, behind a line break, or behind one
// that is escaped, since a stack often stands in a string of JSON.
const (
	newline = `(?:[\r\x02]?[\n\x01]|(?:\\+r)?\\+n|\A|")`
	indent  = `(?:[ \t\x03]|\\+t)`
	inPath  = `[^\s"\x01-\x04]`
	inLine  = `[^\r\n"\x01\x02]`
)

var (
	// Java, Kotlin, Scala; JavaScript; .NET: "at" and the name of a function, and where that is.
	frames = regexp.MustCompile(`(` + newline + `)` + indent + `*at (?:` +
		`(?:async |new )?` + `[^\s()"\\\x01-\x04]+(?: \[as [^\]"\r\n\x01\x02]+\])?` + indent + `?\((?:[^()"\r\n\x01\x02]|\([^()"\r\n\x01\x02]*\))*\)(?: in ` + inLine + `+:line \d+)?(?: ~?\[[^\]"\r\n\x01\x02]*\])?` +
		`|(?:async )?(?:file:|node:|\\?/|[A-Za-z]:)` + inPath + `+:\d+(?::\d+)?)`)
	more     = regexp.MustCompile(newline + indent + `*\.\.\. \d+ (?:more|common frames omitted)`)
	dotNET   = regexp.MustCompile(newline + indent + `*--- End of [a-z ]*stack trace[a-z ]*---`)
	headings = regexp.MustCompile(`(?i)(` + newline + `)` + indent + `*(?:stack ?trace:|call stack:|\(most recent call first\):|During handling of the above exception, another exception occurred:|` +
		`The above exception was the direct cause of the following exception:|Traceback \(most recent call last\):)`)
	// Python: where, the line of source, and marks below it.
	python = regexp.MustCompile(`(` + newline + `)` + indent + `*File \\*\x04[^"\r\n\x01\x02\x04]+\x04, line \d+(?:, in ` + inLine + `+)?(?:` + newline + indent + `{2,}` + inLine + `+)?(?:` + newline + indent + `{2,}[~^ ]+)?`)
	// Go: a function with its arguments, the file below it.
	goroutine = regexp.MustCompile(newline + `?goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[[^\]\r\n"\x01\x02]+\]:`)
	golang    = regexp.MustCompile(newline + `(?:created by )?[A-Za-z0-9_./*()\[\]{}…-]+(?:\((?:[^()\r\n"\x01\x02]|\([^()\r\n"\x01\x02]*\))*\))?(?: in goroutine \d+)?` + newline + indent + `+` + inPath + `+\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?`)
	// PHP and Ruby.
	php     = regexp.MustCompile(newline + indent + `*#\d{1,4} (?:\{main\}|` + inLine + `+(?:\(\d+\))?: ` + inLine + `+|\[internal function\]: ` + inLine + `+)`)
	ruby    = regexp.MustCompile(newline + indent + `*from ` + inPath + `+\.(?:rb|erb|rake|ru):\d+:in [` + "`'" + `][^'"\r\n\x01\x02]+'`)
	rubyTop = regexp.MustCompile(inPath + `+\.(?:rb|erb|rake|ru):\d+:in [` + "`'" + `][^'"\r\n\x01\x02]+': `)
	// The file in which PHP, Perl and others say that it happened.
	file = regexp.MustCompile(`(?i) +(?:thrown )?(?:in|at) (?:[A-Za-z]:|\\?/)` + inPath + `+\.[A-Za-z]{1,5}(?: on)?(?: line |:)\d+`)
)

// withoutStacks takes out the frames of stacks. What was thrown, and the words with it, stays.
func withoutStacks(text string) string {
	quotes := [2]string{`"`, quote}
	if isJSON(text) {
		quotes[0] = `\"`
	}
	text = strings.ReplaceAll(text, quotes[0], quotes[1])
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
		text = php.ReplaceAllStringFunc(text, atStart)
	}
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
	return strings.ReplaceAll(text, quotes[1], quotes[0])
}

// atStart leaves the quote with which a string begins, and nothing else.
func atStart(found string) string {
	if strings.HasPrefix(found, `"`) {
		return `"`
	}
	return ""
}
