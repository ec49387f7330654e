package redact

import "regexp"

// filePath stands in the place of a path on the machine of the service.
const filePath = "[path]"

// Parts of the expressions below. The quotes are those of withoutStacks; slashes may be escaped.
const (
	before    = `(^|[^\w\]/.\\%-])` // no part of a URL or of a longer path
	inSegment = `[^\s"'\x01-\x04:()<>|*?,;\[\]{}\\/` + "`]"
	absolute  = `(?:(?:\\*/` + inSegment + `+)+|[A-Za-z]:(?:\\+|/)` + inSegment + `+(?:(?:\\+|/)` + inSegment + `+)*)`
	mark      = `['\x04` + "`]"
	marked    = `(?:\\*/|[A-Za-z]:[\\/])[^'"\x01-\x04\r\n` + "`]*" + `[^'"\x01-\x04\r\n\\` + "`]" // an absolute path between marks
)

// A path that a call was made with is what its words are about, and stays. These are how runtimes speak of their own files.
var (
	// Where something stands in the source.
	position = regexp.MustCompile(before + absolute + `\.(?:[cm]?[jt]sx?|py|rb|erb|php|lua|p[lm]|go|rs|java|kt|scala|cs|fs|vb|c|cc|cpp|h|hpp|swift|exs?|erl|hs|ml|jl|dart|clj|groovy|vue)` +
		`(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)|(:[ \x01\x02]))`)
	// Node; Python; Java; .NET and others; Ruby; PHP; who repeats what the system said.
	errno      = regexp.MustCompile(`(\b(?:` + errnos + `): [a-z ,-]{3,60}, [a-z]+ ` + mark + `)` + marked)
	errnoPy    = regexp.MustCompile(`(\[Errno \d+\] [^:'"\x01-\x04]{3,60}: \\*` + mark + `)` + marked)
	exception  = regexp.MustCompile(`((?:FileNotFound|NoSuchFile|AccessDenied|FileAlreadyExists|NotDirectory|DirectoryNotEmpty|FileSystem)Exception: |rb_sysopen - )` + absolute)
	notFound   = regexp.MustCompile(`(?i)(\b(?:could not find (?:a part of the path|file)|access to the path|cannot find module|failed opening required) \\*` + mark + `)` + marked)
	second     = regexp.MustCompile(`(\[path\]\\*` + mark + ` (?:->|from) \\*` + mark + `)` + marked)
	opening    = regexp.MustCompile(`(\b(?:include|require|include_once|require_once|file_get_contents|file_put_contents|fopen|readfile|parse_ini_file|opendir|unlink)\()` + absolute + `\)`)
	systemSaid = regexp.MustCompile(`(?i)` + before + absolute + `(\\*` + mark + `?: (?:no such file or directory|permission denied|is a directory|not a directory|file exists|read-only file system|too many open files))`)
)

const errnos = `ENOENT|EACCES|EPERM|EEXIST|EISDIR|ENOTDIR|EXDEV|EROFS|EMFILE|ENOTEMPTY|EBUSY`

// The ends of names of files that position knows, as they stand before a place in them.
var sources = []string{"js:", "jsx:", "ts:", "tsx:", ".py:", ".rb:", ".erb:", ".php:", ".lua:", ".pl:", ".pm:", ".go:", ".rs:", ".java:", ".kt:", ".scala:", ".cs:", ".fs:", ".vb:", ".c:", ".cc:",
	".cpp:", ".h:", ".hpp:", ".swift:", ".ex:", ".exs:", ".erl:", ".hs:", ".ml:", ".jl:", ".dart:", ".clj:", ".groovy:", ".vue:", "s(", "x(", ".py(", ".php(", ".go(", ".vb(", ".cpp(", ".c("}

// withoutPaths takes out where the files of the service are.
func withoutPaths(text string) string {
	if containsAny(text, "ENOENT", "EACCES", "EPERM", "EEXIST", "EISDIR", "ENOTDIR", "EXDEV", "EROFS", "EMFILE", "ENOTEMPTY", "EBUSY") {
		text = errno.ReplaceAllString(text, "${1}"+filePath)
	}
	if containsAny(text, "[Errno ") {
		text = errnoPy.ReplaceAllString(text, "${1}"+filePath)
	}
	if containsAny(text, "Exception: ", "rb_sysopen - ") {
		text = exception.ReplaceAllString(text, "${1}"+filePath)
	}
	if containsAny(text, "ould not find ", "to the path ", "ind module ", "opening required ") {
		text = notFound.ReplaceAllString(text, "${1}"+filePath)
	}
	if containsAny(text, filePath) {
		text = second.ReplaceAllString(text, "${1}"+filePath)
	}
	if containsAny(text, "include", "require", "file_", "fopen(", "readfile(", "parse_ini_file(", "opendir(", "unlink(") {
		text = opening.ReplaceAllString(text, "${1}"+filePath+")")
	}
	if containsAny(text, "file or directory", "ermission denied", "a directory", "ile exists", "file system", "open files") {
		text = systemSaid.ReplaceAllString(text, "${1}"+filePath+"${2}")
	}
	if containsAny(text, sources...) {
		text = position.ReplaceAllString(text, "${1}"+filePath+"${2}")
	}
	return text
}
