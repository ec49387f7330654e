package readiness

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/overlay"
	"drawbridge/openapi/tree"
)

// Bounds of the texts and the example that an answer may hold.
const (
	maxAnswer        = 32 << 10 // bytes of an answer
	maxAnswerDepth   = 20       // of nested values in it
	draftSummary     = 100      // characters
	draftDescription = 500      // characters
	draftArgument    = 200      // characters
)

// A Draft is a text or an example that a model wrote for a place of the document.
type Draft struct{ change change }

// draftAnswer is an answer of a model.
type draftAnswer struct {
	Summary     *string           `json:"summary"`
	Description *string           `json:"description"`
	Arguments   map[string]string `json:"arguments"`
	Example     json.RawMessage   `json:"example"`
}

// Drafts reads the answer of a model to a request. It takes texts for the members that the request asks for, and nothing
// else: an answer is as untrusted as a document. The faults say what was refused and why, each a line.
func (r *Request) Drafts(answer string) (drafts []Draft, faults []string) {
	parsed, err := parseAnswer(answer)
	if err != nil {
		return nil, []string{r.Operation + ": the answer can't be used: " + err.Error()}
	}
	take := func(what string, given *string, most int, place *draftPlace) {
		switch {
		case given == nil:
		case place == nil:
			faults = append(faults, fmt.Sprintf("%s: %s was not asked for; it is left out", r.Operation, what))
		default:
			text, err := draftText(*given, most)
			if err != nil {
				faults = append(faults, fmt.Sprintf("%s: %s is left out: %v", r.Operation, what, err))
				return
			}
			value, err := json.Marshal(map[string]string{place.member: text})
			if err != nil {
				return
			}
			drafts = append(drafts, place.draft(value))
		}
	}
	take("the summary", parsed.Summary, draftSummary, r.summary)
	take("the description", parsed.Description, draftDescription, r.description)
	for _, name := range slices.Sorted(maps.Keys(parsed.Arguments)) {
		text := parsed.Arguments[name]
		take("the description of "+quoted(name), &text, draftArgument, r.arguments[name])
	}
	switch {
	case parsed.Example == nil || string(parsed.Example) == "null":
	case r.example == nil:
		faults = append(faults, r.Operation+": the example was not asked for; it is left out")
	default:
		example, err := draftExample(parsed.Example)
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s: the example is left out: %v", r.Operation, err))
			break
		}
		drafts = append(drafts, r.example.draft(append(append([]byte(`{"example":`), example...), '}')))
	}
	return drafts, faults
}

// parseAnswer reads an answer: one JSON object with known members, perhaps in a fence of Markdown.
func parseAnswer(answer string) (*draftAnswer, error) {
	if len(answer) > maxAnswer {
		return nil, fmt.Errorf("it has %d bytes; at most %d are allowed", len(answer), maxAnswer)
	}
	answer = strings.TrimSpace(answer)
	if fenced, ok := strings.CutPrefix(answer, "```"); ok {
		_, fenced, _ = strings.Cut(fenced, "\n")
		answer = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(fenced), "```"))
	}
	if _, err := jsonscan.Scan([]byte(answer), jsonscan.Options{Unique: true, MaxDepth: maxAnswerDepth}); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	decoder := json.NewDecoder(strings.NewReader(answer))
	decoder.DisallowUnknownFields()
	parsed := &draftAnswer{}
	if err := decoder.Decode(parsed); err != nil {
		return nil, fmt.Errorf("it must have summary, description, arguments and example alone: %w", err)
	}
	return parsed, nil
}

// draftText returns a text in one line. It refuses what is no plain text: links and markup lead a model or a person
// elsewhere, and invisible characters hide something.
func draftText(given string, most int) (string, error) {
	text := strings.Join(strings.Fields(given), " ")
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "", errors.New("it is empty")
	case n > most:
		return "", fmt.Errorf("it has %d characters; at most %d are allowed", n, most)
	case openapi.Clean(text) != text:
		return "", errors.New("it holds invisible characters or comments")
	}
	for _, sign := range []string{"://", "www.", "](", "<", ">", "`", "${", "{{"} {
		if strings.Contains(strings.ToLower(text), sign) {
			return "", fmt.Errorf("it holds %q: links, markup and placeholders are not allowed", sign)
		}
	}
	return text, nil
}

// draftExample returns an example in one line.
func draftExample(given json.RawMessage) (json.RawMessage, error) {
	n, err := tree.Parse("example", slices.Clone(given), tree.Limits{})
	if err != nil {
		return nil, err
	}
	example := n.AppendJSON(nil)
	switch {
	case len(example) > shownExample:
		return nil, fmt.Errorf("it has %d bytes; at most %d are shown", len(example), shownExample)
	case openapi.Clean(string(example)) != string(example):
		return nil, errors.New("it holds invisible characters or comments")
	case strings.Contains(string(example), `"$ref"`):
		return nil, errors.New(`it holds "$ref", which would be read as a reference`)
	}
	return example, nil
}

// draftPlace is a place of the document that a draft is for.
type draftPlace struct {
	target, member string
	reason         string
	key            key
}

func (p *draftPlace) draft(value json.RawMessage) Draft {
	return Draft{change{overlay.Change{Target: p.target, Value: value, Reason: "DRAFT by a model, read before use: " + p.reason, Draft: true}, []key{p.key}}}
}
