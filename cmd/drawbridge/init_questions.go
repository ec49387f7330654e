package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"drawbridge/openapi/origin"
)

// errNoAnswer is the end of the input where a person was asked.
var errNoAnswer = errors.New("init: ended without an answer; nothing is written")

// question asks on standard error, and returns the answer or, for an empty one, the default.
func (i *initialization) question(text, fallback string) (string, error) {
	if fallback != "" {
		text += " [" + fallback + "]"
	}
	fmt.Fprint(i.stderr, text+": ")
	line, err := i.answers.ReadString('\n')
	if !i.interactive {
		fmt.Fprintln(i.stderr)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("init: read the answer: %w", err)
	}
	answer := strings.TrimSpace(line)
	if answer == "" {
		if i.interactive && errors.Is(err, io.EOF) { // Ctrl-D
			fmt.Fprintln(i.stderr)
			return "", usageError{errNoAnswer, nil}
		}
		answer = fallback
	}
	return answer, nil
}

// again asks until an answer can be used. A pipe has one answer.
func (i *initialization) again(ask func() error) error {
	for {
		err := ask()
		var usage usageError
		if err == nil || !i.interactive || !errors.As(err, &usage) || errors.Is(err, errNoAnswer) {
			return err
		}
		fmt.Fprintf(i.stderr, "   %s\n", strings.TrimPrefix(usage.Error(), "init: "))
	}
}

// askDocument asks for the document, if it was not given, and reads it.
func (i *initialization) askDocument(ctx context.Context) (api *described, err error) {
	if !i.asked {
		if api, err = i.read(ctx, i.document); err != nil {
			return nil, fmt.Errorf("init: %w", err)
		}
		return api, nil
	}
	err = i.again(func() error {
		answer, err := i.question("1. The API's OpenAPI document, a URL or a path", "")
		if err != nil {
			return err
		}
		if answer == "" {
			return usageError{errors.New("init: a document is needed, such as https://orders.internal/openapi.json"), nil}
		}
		i.document = answer
		if api, err = i.read(ctx, answer); err != nil {
			if i.interactive {
				return usageError{err, nil}
			}
			return fmt.Errorf("init: %w", err)
		}
		fmt.Fprintf(i.stderr, "   %s, OpenAPI %s: %s\n", oneLine(api.title), api.standard, count(api.tools, "tool"))
		return nil
	})
	return api, err
}

// askIssuer asks how callers authenticate, unless it was said.
func (i *initialization) askIssuer() error {
	if !i.asked || i.issuer != "" {
		return checkIssuer(i.issuer)
	}
	return i.again(func() (err error) {
		if i.issuer, err = i.question("2. The authorization server whose tokens callers need, a URL, or none (loopback only)", "none"); err != nil {
			return err
		}
		if strings.EqualFold(i.issuer, "none") {
			i.issuer = ""
		}
		return checkIssuer(i.issuer)
	})
}

// checkIssuer refuses what can't be the URL of an authorization server.
func checkIssuer(issuer string) error {
	if issuer == "" {
		return nil
	}
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !origin.Loopback(u.Hostname())) {
		return usageError{fmt.Errorf("init: the issuer %q must be an https:// URL (http:// on loopback), or none", issuer), nil}
	}
	return nil
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// askCredential asks for the variable with the credential, unless it was said.
func (i *initialization) askCredential(api *described) error {
	if !i.asked || i.variable != "" {
		return checkVariable(i.variable)
	}
	text, fallback := "3. The environment variable with a bearer token for the API, or none", "none"
	if s := api.scheme; s != nil {
		text, fallback = "3. The environment variable with "+oneLine(s.describe())+", or none", s.variable()
	}
	return i.again(func() (err error) {
		if i.variable, err = i.question(text, fallback); err != nil {
			return err
		}
		if strings.EqualFold(i.variable, "none") {
			i.variable = ""
		}
		return checkVariable(i.variable)
	})
}

// checkVariable refuses what is no name of a variable, without repeating it: it may be the secret itself.
func checkVariable(name string) error {
	if name == "" || variableName.MatchString(name) {
		return nil
	}
	return usageError{errors.New("init: expected the name of an environment variable, such as ORDERS_KEY; the secret itself does not belong in the file"), nil}
}

// describe returns the scheme in words.
func (s *scheme) describe() string {
	switch {
	case s.kind == "apiKey":
		return fmt.Sprintf("%s (a key in the %s %s)", s.name, s.in, s.key)
	case s.kind == "http" && s.http == "basic":
		return s.name + " (user name and password)"
	case s.kind == "http":
		return fmt.Sprintf("%s (a %s token)", s.name, s.http)
	case s.kind == "mutualTLS":
		return s.name + " (a client certificate)"
	}
	return s.name + " (a token of an authorization server)"
}

// variable proposes the variable for a credential: the name of the scheme in capitals.
func (s *scheme) variable() string {
	var b strings.Builder
	lower := false
	for _, r := range s.name {
		switch {
		case r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			if b.Len() > 0 {
				b.WriteByte('_')
			}
			lower = false
		default:
			if unicode.IsUpper(r) && lower {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToUpper(r))
			lower = unicode.IsLower(r)
		}
	}
	name := strings.Trim(b.String(), "_")
	if !variableName.MatchString(name) {
		name = "API_CREDENTIAL"
	}
	if s.kind == "http" && s.http == "basic" && !strings.HasSuffix(name, passwordSuffix) {
		name += passwordSuffix
	}
	return name
}

const passwordSuffix = "_PASSWORD"

// userVariable returns the variable with the user name that belongs to a password.
func userVariable(password string) string {
	return strings.TrimSuffix(password, passwordSuffix) + "_USERNAME"
}

// variables returns the environment variables that the file refers to.
func (i *initialization) variables(api *described) []string {
	switch {
	case i.variable == "":
		return nil
	case api.scheme != nil && api.scheme.kind == "http" && api.scheme.http == "basic":
		return []string{userVariable(i.variable), i.variable}
	}
	return []string{i.variable}
}
