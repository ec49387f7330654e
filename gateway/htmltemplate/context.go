package htmltemplate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template/parse"
)

// context is where in HTML a position of a template is. The zero value is text between tags.
type context struct {
	state state
	// element is the element whose text it is, in states rawText and escapableText, or that of the tag that is read.
	element string
	// quote ends the value of an attribute, in state value.
	quote byte
	// attribute is the name of the attribute, in states name and value.
	attribute string
	part      urlPart
}

type state uint8

const (
	text          state = iota
	escapableText       // of title and textarea, which has no tags
	rawText             // of script and style, which no value may stand in
	tagName             // <name
	tag                 // between attributes
	name                // the name of an attribute
	beforeValue         // after its equals sign
	value               // inside of its quotes
	unquoted            // in a value without quotes, which no value of the data may be part of
	unsupported         // after a comment or an equals sign without a name
)

// urlPart is the part of a URL in which a position is.
type urlPart uint8

const (
	urlStart urlPart = iota
	urlPath
	urlQuery // or fragment
)

// urlAttributes are the attributes that hold URLs.
var urlAttributes = []string{"href", "src", "action", "formaction", "cite", "poster", "data", "hx-get", "hx-post"}

func (c context) isURL() bool { return slices.Contains(urlAttributes, c.attribute) }

// escaper returns how a value is escaped at this position.
func (c context) escaper() (escaper, error) {
	switch c.state {
	case text, escapableText:
		return escapeHTML, nil
	case value:
		switch {
		case strings.HasPrefix(c.attribute, "on") || c.attribute == "style" || c.attribute == "srcdoc" || c.attribute == "srcset":
			return nil, fmt.Errorf("a value can't be escaped in the attribute %s", c.attribute)
		case !c.isURL():
			return escapeHTML, nil
		case c.part == urlStart:
			return escapeURL, nil
		case c.part == urlPath:
			return escapeURLPath, nil
		}
		return escapeURLQuery, nil
	default:
		return nil, errors.New("a value can stand in text and in attributes with quotes only")
	}
}

// contextualize determines the escaper of each action below a node, which begins in a context, and returns the context at its end.
func (t *Template) contextualize(tree *parse.Tree, n parse.Node, c context) (context, error) {
	switch n := n.(type) {
	case *parse.TextNode:
		return c.after(string(n.Text)), nil
	case *parse.ActionNode:
		if len(n.Pipe.Decl) > 0 {
			return c, nil // it writes nothing
		}
		e, err := c.escaper()
		if err != nil {
			return c, at(tree, n, err)
		}
		t.escapers[n] = e
		return c, nil
	case *parse.ListNode:
		if n == nil {
			return c, nil
		}
		var err error
		for _, child := range n.Nodes {
			if c, err = t.contextualize(tree, child, c); err != nil {
				return c, err
			}
		}
		return c, nil
	case *parse.IfNode:
		return t.branches(tree, n, &n.BranchNode, c)
	case *parse.WithNode:
		return t.branches(tree, n, &n.BranchNode, c)
	case *parse.RangeNode:
		return t.branches(tree, n, &n.BranchNode, c)
	case *parse.TemplateNode:
		if c.state != text && c.state != escapableText {
			return c, at(tree, n, errors.New("a template can be executed in text only"))
		}
		if t.trees[n.Name] == nil {
			return c, at(tree, n, fmt.Errorf("there is no template %q", n.Name))
		}
		return c, nil
	case *parse.CommentNode:
		return c, nil
	}
	return c, at(tree, n, fmt.Errorf("%s is not supported", n))
}

// branches returns the context at the end of both branches, which have to end alike.
func (t *Template) branches(tree *parse.Tree, of parse.Node, n *parse.BranchNode, c context) (context, error) {
	first, err := t.contextualize(tree, n.List, c)
	if err != nil {
		return c, err
	}
	second, err := t.contextualize(tree, n.ElseList, c)
	if err != nil {
		return c, err
	}
	if first != second {
		return c, at(tree, of, errors.New("its branches end in different contexts"))
	}
	return first, nil
}

// at adds the position of a node.
func at(tree *parse.Tree, n parse.Node, err error) error {
	location, _ := tree.ErrorContext(n)
	return fmt.Errorf("%s: %w", location, err)
}

// after returns the context after some text of a template.
func (c context) after(s string) context {
	for s != "" {
		c, s = c.step(s)
	}
	return c
}

const blanks = " \t\r\n\f"

// step reads the beginning of a text that isn't empty, and returns the context after it, and the rest.
func (c context) step(s string) (context, string) {
	switch c.state {
	case text:
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return c, ""
		}
		return context{state: tagName}, s[i+1:]
	case escapableText, rawText:
		i := strings.Index(strings.ToLower(s), "</"+c.element)
		if i < 0 {
			return c, ""
		}
		return context{state: tagName}, s[i+1:]
	case tagName:
		i := strings.IndexAny(s, blanks+">")
		if i < 0 {
			i = len(s)
		}
		c.element += strings.ToLower(s[:i])
		c.state = tag
		if strings.HasPrefix(c.element, "!--") {
			c.state = unsupported
		}
		return c, s[i:]
	case tag:
		s = strings.TrimLeft(s, blanks+"/")
		switch {
		case s == "":
			return c, ""
		case s[0] == '>':
			return c.content(), s[1:]
		case s[0] == '=':
			return context{state: unsupported}, ""
		}
		c.state, c.attribute = name, ""
		return c, s
	case name:
		i := strings.IndexAny(s, blanks+"=>/")
		if i < 0 {
			i = len(s)
		}
		c.attribute += strings.ToLower(s[:i])
		switch {
		case i == len(s):
			return context{state: tag, element: c.element}, "" // as " selected" ends where a branch ends
		case s[i] == '=':
			c.state = beforeValue
			return c, s[i+1:]
		}
		return context{state: tag, element: c.element}, s[i:]
	case beforeValue:
		if s[0] == '"' || s[0] == '\'' {
			c.state, c.quote, c.part = value, s[0], urlStart
			return c, s[1:]
		}
		c.state = unquoted
		return c, s
	case unquoted:
		i := strings.IndexAny(s, blanks+">")
		if i < 0 {
			return c, ""
		}
		return context{state: tag, element: c.element}, s[i:]
	case value:
		i := strings.IndexByte(s, c.quote)
		end := i
		if i < 0 {
			end = len(s)
		}
		if c.isURL() {
			if strings.ContainsAny(s[:end], "?#") {
				c.part = urlQuery
			} else if end > 0 && c.part == urlStart {
				c.part = urlPath
			}
		}
		if i < 0 {
			return c, ""
		}
		return context{state: tag, element: c.element}, s[i+1:]
	default: // unsupported
		return c, ""
	}
}

// content returns the context after the tag of an element.
func (c context) content() context {
	switch c.element {
	case "title", "textarea":
		return context{state: escapableText, element: c.element}
	case "script", "style":
		return context{state: rawText, element: c.element}
	}
	return context{}
}
