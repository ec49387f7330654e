package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// expansion is a scalar's text with its references replaced.
type expansion struct {
	text     string
	expanded bool // there was a reference
	literal  bool // without its references the text is not empty, or a default was used
	open     []string
	unset    []missing // references that placeholder replaces: see [LoadOptions]
}

// expand replaces ${NAME}, ${NAME:-default} and ${file:PATH} in text, and $$ by $. Any other $ stands for itself.
// References are not looked for in what they are replaced by.
func (l *loader) expand(text string) (e expansion, errs []error) {
	if err := l.bareReference(text); err != nil {
		return e, []error{err}
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		b.WriteString(before)
		e.literal = e.literal || before != ""
		if !found {
			break
		}
		switch {
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			text, e.literal = rest[1:], true
		case strings.HasPrefix(rest, "{"):
			e.expanded = true
			name, after, closed := strings.Cut(rest[1:], "}")
			if !closed {
				return e, append(errs, errors.New("has a ${ without its }; write $${ for the characters themselves"))
			}
			value, err := l.reference(name, &e)
			if err != nil {
				errs = append(errs, err)
			}
			b.WriteString(value)
			text = after
		default:
			b.WriteByte('$')
			text, e.literal = rest, true
		}
	}
	e.text = b.String()
	return e, errs
}

// bareReference rejects $NAME without braces, which shells replace and this package does not: the text would be sent instead of the value.
// It is one if it is all of the value and has no small letter, or ends the value and is a variable. The message has the name in the second case
// only, because a secret may begin with $.
func (l *loader) bareReference(text string) error {
	before, name, found := strings.Cut(text, "$")
	if !found || !variableName(name) || strings.HasSuffix(before, "$") {
		return nil
	}
	switch {
	case l.getenv != nil && l.getenv(name) != "":
		return fmt.Errorf("$%s is not replaced without braces; write ${%s} for the environment variable, or $$ for the character itself", name, name)
	case before == "" && len(name) > 1 && strings.ToUpper(name) == name:
		return errors.New("is a $ and a name, which is not replaced without braces; write ${NAME} for an environment variable, or $$ for the character itself")
	}
	return nil
}

// reference returns the value of a reference, without its ${ and }.
func (l *loader) reference(name string, e *expansion) (string, error) {
	if path, ok := strings.CutPrefix(name, "file:"); ok {
		secret, err := l.secretFile(path)
		if err != nil && l.withoutSecrets && !errors.As(err, new(notGranted)) && path != "" && checkPath(path) == nil {
			return e.missing("${file:"+path+"}", err), nil
		}
		if err != nil {
			return "", fmt.Errorf("${file:%s}: %w", path, err)
		}
		if secret.open {
			e.open = append(e.open, path)
		}
		l.hide(secret.content, "${file:"+path+"}")
		return secret.content, nil
	}
	name, fallback, hasFallback := strings.Cut(name, ":-")
	if !variableName(name) {
		return "", fmt.Errorf("${%s}: expected a variable name, NAME:-default or file:PATH; "+
			"write $${ for the characters themselves", name)
	}
	if l.granted != nil {
		if err := l.granted.allowsVariable(name); err != nil {
			return "", fmt.Errorf("${%s}: %w", name, err)
		}
	}
	var value string
	if l.getenv != nil {
		value = l.getenv(name)
	}
	switch {
	case value != "":
		l.hide(value, "${"+name+"}")
		return value, nil
	case hasFallback:
		e.literal = e.literal || fallback != ""
		return fallback, nil
	}
	unset := errors.New("the environment variable is not set, or is empty")
	if l.withoutSecrets {
		return e.missing("${"+name+"}", unset), nil
	}
	return "", fmt.Errorf("${%s}: %w", name, unset)
}

// secretFile is what a configuration takes from a file with a secret.
type secretFile struct {
	content string // without the newline at its end
	open    bool   // every user can read the file
}

// secretFile reads a file with a secret. An included file must be granted it.
func (l *loader) secretFile(path string) (secretFile, error) {
	if path == "" || checkPath(path) != nil {
		return secretFile{}, errors.New("expected a path after the colon")
	}
	path = resolvePath(l.dir, path)
	read := func() ([]byte, fs.FileInfo, error) { return readRegular(path) }
	if l.granted != nil {
		name, err := l.granted.nameBelow(path)
		if err != nil {
			return secretFile{}, err
		}
		read = func() ([]byte, fs.FileInfo, error) { return small(readBelow(l.granted.folder, name, maxRegular)) }
	}
	// A later appearance of the file is a reason to load again as well.
	l.files = append(l.files, path)
	if s, ok := l.secrets[path]; ok {
		return s, nil
	}
	data, info, err := read()
	if err != nil {
		return secretFile{}, err
	}
	s := secretFile{strings.TrimRight(string(data), "\r\n"), info.Mode().Perm()&0o004 != 0}
	if s.content == "" {
		return secretFile{}, errors.New("is empty")
	}
	if l.secrets == nil {
		l.secrets = map[string]secretFile{}
	}
	l.secrets[path] = s
	return s, nil
}

func variableName(s string) bool {
	for i, c := range []byte(s) {
		if !alphanumeric(c) && c != '_' || i == 0 && '0' <= c && c <= '9' {
			return false
		}
	}
	return s != ""
}
