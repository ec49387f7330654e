// Package loginpage has what the pages of the public listener share that people see while they log in: the frame, messages, and the check
// that a form comes from such a page.
//
// It hides the style and the headers of the pages. The rule that must not be broken: a page executes and loads nothing, posts to the
// gateway alone, and can't be framed.
package loginpage
