package answer

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxListDepth is the maximum depth to which lists are indented.
const maxListDepth = 6

// htmlText reduces a page to the text that its reader sees: headings and list items are marked as in Markdown, the
// cells of a table row are on one line, links and images become their text. Scripts, styles and everything else that
// isn't displayed is removed. The result is UTF-8 if the page is, at most a few times its size, and never empty.
func htmlText(page []byte) []byte {
	p := htmlReader{tokens: html.NewTokenizer(bytes.NewReader(page)), out: make([]byte, 0, len(page)/4)}
	for {
		switch p.tokens.Next() {
		case html.ErrorToken:
			if len(p.out) == 0 {
				return []byte("(The page has no text.)")
			}
			return p.out
		case html.TextToken:
			if p.skipped == 0 {
				p.text(p.tokens.Text())
			}
		case html.StartTagToken:
			p.start(true)
		case html.SelfClosingTagToken:
			p.start(false)
		case html.EndTagToken:
			name, _ := p.tokens.TagName()
			p.end(atom.Lookup(name))
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// htmlReader turns the tokens of a page into text. It builds no tree: tags that are missing or in the wrong order cost
// at most a line break.
type htmlReader struct {
	tokens *html.Tokenizer
	out    []byte

	skip    atom.Atom // the element that is being dropped
	skipped int       // nesting depth of elements with that name
	pre     int       // nesting depth of <pre>
	breaks  int       // line breaks before the next text
	space   bool      // a space before the next text
	mark    string    // the mark before the next text, on its line
	lists   []int     // of the open lists: the number of the next item, 0 for bullets
	cells   bool      // the row already has a cell
}

// start handles a start tag; open is false if the tag closes itself.
func (p *htmlReader) start(open bool) {
	name, attributes := p.tokens.TagName()
	a := atom.Lookup(name)
	if p.skipped > 0 {
		if a == p.skip && open {
			p.skipped++
		}
		return
	}
	switch a {
	case atom.Script, atom.Style, atom.Template, atom.Iframe, atom.Noembed, atom.Noframes, atom.Object, atom.Svg, atom.Math, atom.Canvas, atom.Audio, atom.Video:
		if open {
			p.skip, p.skipped = a, 1
		}
	case atom.Br:
		p.breaks++
	case atom.Hr:
		p.block(2)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.block(2)
		p.mark = strings.Repeat("#", int(name[1]-'0')) + " "
	case atom.Ul, atom.Ol, atom.Menu:
		p.list(a, attributes)
	case atom.Li:
		p.item()
	case atom.Pre:
		p.block(2)
		if open {
			p.pre++
		}
	case atom.Tr:
		p.block(1)
		p.cells = false
	case atom.Td, atom.Th:
		if p.cells && p.breaks == 0 {
			p.mark, p.space = " | ", false
		}
		p.cells = true
	case atom.Img, atom.Area:
		p.text(p.attribute(attributes, "alt"))
	case atom.Option:
		p.block(1)
	default:
		p.block(breaksAround(a))
	}
}

func (p *htmlReader) end(a atom.Atom) {
	if p.skipped > 0 {
		if a == p.skip {
			p.skipped--
		}
		return
	}
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Title:
		p.block(2)
		p.mark = ""
	case atom.Ul, atom.Ol, atom.Menu:
		if len(p.lists) > 0 {
			p.lists = p.lists[:len(p.lists)-1]
		}
		p.block(1)
		if len(p.lists) == 0 {
			p.block(2)
		}
	case atom.Li:
		p.block(1)
		p.mark = ""
	case atom.Pre:
		p.block(2)
		p.pre = max(0, p.pre-1)
	case atom.Tr:
		p.block(1)
		p.mark, p.cells = "", false
	default:
		p.block(breaksAround(a))
	}
}

// breaksAround returns the number of line breaks around an element.
func breaksAround(a atom.Atom) int {
	switch a {
	case atom.P, atom.Blockquote, atom.Table, atom.Figure, atom.Dl, atom.Fieldset, atom.Form, atom.Article, atom.Section, atom.Main:
		return 2
	case atom.Div, atom.Address, atom.Aside, atom.Body, atom.Caption, atom.Dd, atom.Details, atom.Dt, atom.Figcaption, atom.Footer, atom.Head,
		atom.Header, atom.Legend, atom.Nav, atom.Summary, atom.Thead, atom.Tbody, atom.Tfoot, atom.Select, atom.Textarea, atom.Title:
		return 1
	default:
		return 0
	}
}

// block ensures at least n line breaks before the next text. Lists have no blank lines in them.
func (p *htmlReader) block(n int) {
	if len(p.lists) > 0 {
		n = min(n, 1)
	}
	p.breaks = max(p.breaks, n)
}

func (p *htmlReader) list(a atom.Atom, attributes bool) {
	p.block(1)
	if len(p.lists) == 0 {
		p.block(2)
	}
	next := 0
	if a == atom.Ol {
		next = 1
		if n, err := strconv.Atoi(string(p.attribute(attributes, "start"))); err == nil && n > 0 && n < 1<<30 {
			next = n
		}
	}
	if len(p.lists) < 1<<10 { // deeper lists close early, and look the same
		p.lists = append(p.lists, next)
	}
}

func (p *htmlReader) item() {
	p.block(1)
	p.mark = "- "
	depth := len(p.lists)
	if depth > 0 && p.lists[depth-1] > 0 {
		p.mark = strconv.Itoa(p.lists[depth-1]) + ". "
		p.lists[depth-1]++
	}
	p.mark = strings.Repeat("  ", max(0, min(depth, maxListDepth)-1)) + p.mark
}

// attribute returns the value of an attribute of the current tag.
func (p *htmlReader) attribute(more bool, name string) []byte {
	for more {
		var key, value []byte
		if key, value, more = p.tokens.TagAttr(); string(key) == name {
			return value
		}
	}
	return nil
}

// text appends text with each run of white space reduced to one space, except in <pre>.
func (p *htmlReader) text(text []byte) {
	if p.pre > 0 {
		for line := range bytes.Lines(text) {
			if line := bytes.TrimRight(line, " \t\r\n"); len(line) > 0 {
				p.flush()
				p.out = append(p.out, line...)
			}
			if bytes.HasSuffix(line, []byte("\n")) {
				p.breaks++
			}
		}
		return
	}
	for len(text) > 0 {
		if i := bytes.IndexAny(text, " \t\r\n\f"); i != 0 {
			if i < 0 {
				i = len(text)
			}
			p.flush()
			p.out = append(p.out, text[:i]...)
			text = text[i:]
			continue
		}
		text = text[1:]
		p.space = true
	}
}

// flush writes the pending breaks, space and mark before a text.
func (p *htmlReader) flush() {
	switch {
	case len(p.out) == 0:
	case p.breaks > 0:
		p.out = append(p.out, "\n\n"[:min(p.breaks, 2)]...)
	case p.space && !strings.HasPrefix(p.mark, " | "):
		p.out = append(p.out, ' ')
	}
	p.out = append(p.out, p.mark...)
	p.breaks, p.space, p.mark = 0, false, ""
}
