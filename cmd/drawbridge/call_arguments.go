package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"drawbridge/config"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// looksLikeArguments reports whether text is meant as the arguments of a tool: no name begins like that.
func looksLikeArguments(text string) bool {
	return areElsewhere(text) || strings.HasPrefix(strings.TrimSpace(text), "{")
}

// areElsewhere reports whether text stands for arguments on standard input or in a file.
func areElsewhere(text string) bool { return text == "-" || strings.HasPrefix(text, "@") }

// readArguments reads the arguments that - or @FILE stands for. Errors begin with file:line:col.
func readArguments(raw string, stdin io.Reader, limit config.ByteSize) (json.RawMessage, error) {
	name, in := "<stdin>", stdin
	if path, isFile := strings.CutPrefix(raw, "@"); isFile {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("the arguments can't be read: %w", err)
		}
		defer f.Close()
		name, in = path, f
	}
	data, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("%s: the arguments can't be read: %w", name, err)
	}
	if int64(len(data)) > int64(limit) {
		return nil, fmt.Errorf("%s: the arguments are larger than limits.max_body (%s)", name, limit)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := checkArguments(data); err != nil {
		offset := len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
		var bad *jsonscan.Error
		if errors.As(err, &bad) {
			offset, err = min(bad.Offset, len(data)), fmt.Errorf("the arguments must be a JSON object: %s", bad.Detail)
			if escape := text.InEscape(data); escape != "" {
				err = fmt.Errorf("%w: the text ends inside the escape %s, so it was cut off", err, escape)
			}
		}
		before := data[:offset]
		line, column := 1+bytes.Count(before, []byte("\n")), 1+utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
		return nil, fmt.Errorf("%s:%d:%d: %w", name, line, column, err)
	}
	return data, nil
}

// checkArguments requires one JSON object: arguments mangled by shell quoting are a usage error,
// not a failed call.
func checkArguments(raw []byte) error {
	if _, err := jsonscan.Scan(raw, jsonscan.Options{Unique: true}); err != nil {
		if escape := text.InEscape(raw); escape != "" {
			return fmt.Errorf("the arguments must be a JSON object, and end inside the escape %s: they were cut off (%w)", escape, err)
		}
		return fmt.Errorf("the arguments must be a JSON object: %w", err)
	}
	if jsonscan.KindOf(raw) != jsonscan.Object {
		return errors.New("the arguments must be a JSON object, such as '{\"id\": 7}'")
	}
	return nil
}
