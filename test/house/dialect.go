package main

import (
	"go/ast"
	"regexp"
	"strings"
)

// advisedDialect is the number of turns of phrase per 100 lines of comments above which a package is named below the table. It is
// advice and no limit: a phrase may be the right one where it is.
const advisedDialect = 6

// dialect matches turns of phrase that make a reader stop, for which technical English has a plain one: "reports whether" for
// "tells whether", "instead of" for "in the place of", "the response" for "what is answered".
var dialect = regexp.MustCompile(`(?i)\b(?:` + strings.Join([]string{
	`stands?`, `stood`,
	`tells? (?:whether|what|which|who|how|of)`, `(?:is|are|was|were) told`,
	`says? (?:whether|what|which|who|how|so|nothing)`,
	`holds? (?:that|what|which|how)`,
	`in the place of`, `by way of`, `anew`, `for good`, `in (?:the )?clear`, `have it that`, `whoever`,
	`(?:of|with|after|has|most|more) so many`,
	`(?:is|are) none`,
}, "|") + `)\b`)

// nominal matches a sentence whose subject is a clause: "What is found goes". Questions are not matched.
var nominal = regexp.MustCompile(`(?:^|[.;:] )(?:What|Who|Which) [^.?]*\.`)

// permitted removes phrases that dialect would match and that are plain English.
var permitted = strings.NewReplacer("stands for", "", "stand for", "", "stand-in", "")

// countDialect returns the number of lines of a file's comments, and of turns of phrase in them.
func countDialect(file *ast.File) (lines, turns int) {
	for _, group := range file.Comments {
		text := permitted.Replace(strings.Join(strings.Fields(group.Text()), " "))
		lines += strings.Count(group.Text(), "\n")
		turns += len(dialect.FindAllString(text, -1)) + len(nominal.FindAllString(text, -1))
	}
	return lines, turns
}
