package redact

import "regexp"

// pathPlaceholder replaces a path on the service's machine.
const pathPlaceholder = "[path]"

// Parts of the expressions below. The quotes are those of withoutStacks; slashes may be escaped.
const (
	before     = `(^|[^\w\]/.\\%-])` // not part of a URL or of a longer path
	inSegment  = `[^\s"'\x01-\x04:()<>|*?,;\[\]{}\\/` + "`]"
	absolute   = `(?:(?:\\*/` + inSegment + `+)+|[A-Za-z]:(?:\\+|/)` + inSegment + `+(?:(?:\\+|/)` + inSegment + `+)*)`
	quoteMark  = `['\x04` + "`]"
	quotedPath = `(?:\\*/|[A-Za-z]:[\\/])[^'"\x01-\x04\r\n` + "`]*" + `[^'"\x01-\x04\r\n\\` + "`]" // an absolute path between quotes
)

// A path that the caller sent is the subject of the error, and stays. These expressions match how runtimes report their
// own files.
var (
	// A position in source code.
	position = regexp.MustCompile(before + absolute + `\.(?:[cm]?[jt]sx?|py|rb|erb|php|lua|p[lm]|go|rs|java|kt|scala|cs|fs|vb|c|cc|cpp|h|hpp|swift|exs?|erl|hs|ml|jl|dart|clj|groovy|vue)` +
		`(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)|(:[ \x01\x02]))`)
	// Node; Python; Java; .NET and others; Ruby; PHP; and programs that repeat the error of the operating system.
	errno       = regexp.MustCompile(`(\b(?:` + errnos + `): [a-z ,-]{3,60}, [a-z]+ ` + quoteMark + `)` + quotedPath)
	errnoPy     = regexp.MustCompile(`(\[Errno \d+\] [^:'"\x01-\x04]{3,60}: \\*` + quoteMark + `)` + quotedPath)
	exception   = regexp.MustCompile(`((?:FileNotFound|NoSuchFile|AccessDenied|FileAlreadyExists|NotDirectory|DirectoryNotEmpty|FileSystem)Exception: |rb_sysopen - )` + absolute)
	notFound    = regexp.MustCompile(`(?i)(\b(?:could not find (?:a part of the path|file)|access to the path|cannot find module|failed opening required) \\*` + quoteMark + `)` + quotedPath)
	secondPath  = regexp.MustCompile(`(\[path\]\\*` + quoteMark + ` (?:->|from) \\*` + quoteMark + `)` + quotedPath)
	opening     = regexp.MustCompile(`(\b(?:include|require|include_once|require_once|file_get_contents|file_put_contents|fopen|readfile|parse_ini_file|opendir|unlink)\()` + absolute + `\)`)
	systemError = regexp.MustCompile(`(?i)` + before + absolute + `(\\*` + quoteMark + `?: (?:no such file or directory|permission denied|is a directory|not a directory|file exists|read-only file system|too many open files))`)
)

const errnos = `ENOENT|EACCES|EPERM|EEXIST|EISDIR|ENOTDIR|EXDEV|EROFS|EMFILE|ENOTEMPTY|EBUSY`

// The endings of file names that position matches, as they appear before a line number.
var sources = []string{"js:", "jsx:", "ts:", "tsx:", ".py:", ".rb:", ".erb:", ".php:", ".lua:", ".pl:", ".pm:", ".go:", ".rs:", ".java:", ".kt:", ".scala:", ".cs:", ".fs:", ".vb:", ".c:", ".cc:",
	".cpp:", ".h:", ".hpp:", ".swift:", ".ex:", ".exs:", ".erl:", ".hs:", ".ml:", ".jl:", ".dart:", ".clj:", ".groovy:", ".vue:", "s(", "x(", ".py(", ".php(", ".go(", ".vb(", ".cpp(", ".c("}

// withoutPaths removes paths of the service's files.
func withoutPaths(text string) string {
	if containsAny(text, "ENOENT", "EACCES", "EPERM", "EEXIST", "EISDIR", "ENOTDIR", "EXDEV", "EROFS", "EMFILE", "ENOTEMPTY", "EBUSY") {
		text = errno.ReplaceAllString(text, "${1}"+pathPlaceholder)
	}
	if containsAny(text, "[Errno ") {
		text = errnoPy.ReplaceAllString(text, "${1}"+pathPlaceholder)
	}
	if containsAny(text, "Exception: ", "rb_sysopen - ") {
		text = exception.ReplaceAllString(text, "${1}"+pathPlaceholder)
	}
	if containsAny(text, "ould not find ", "to the path ", "ind module ", "opening required ") {
		text = notFound.ReplaceAllString(text, "${1}"+pathPlaceholder)
	}
	if containsAny(text, pathPlaceholder) {
		text = secondPath.ReplaceAllString(text, "${1}"+pathPlaceholder)
	}
	if containsAny(text, "include", "require", "file_", "fopen(", "readfile(", "parse_ini_file(", "opendir(", "unlink(") {
		text = opening.ReplaceAllString(text, "${1}"+pathPlaceholder+")")
	}
	if containsAny(text, "file or directory", "ermission denied", "a directory", "ile exists", "file system", "open files") {
		text = systemError.ReplaceAllString(text, "${1}"+pathPlaceholder+"${2}")
	}
	if containsAny(text, sources...) {
		text = position.ReplaceAllString(text, "${1}"+pathPlaceholder+"${2}")
	}
	return text
}
