package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// task is a file of testdata.
type task struct {
	name   string
	about  string    // what the task is about, and which kind of obstacle it stands for
	text   string    // the task as a model reads it
	setup  []request // what is sent to the services before
	script []step    // the task as a script does it
	state  []check   // holds of the services afterwards
	answer []string  // each stands in the last answer of who does the task, as a word, in any case of letters
}

// request is sent to a service, without the gateway.
type request struct {
	Service string            `json:"service"`
	Method  string            `json:"method"` // GET if empty
	Path    string            `json:"path"`
	Body    any               `json:"body"`
	Times   int               `json:"times"` // how often; ${n} is the number, from 1
	Keep    map[string]string `json:"keep"`  // queries in jq on the answer, by the name of the value
}

// step is a search, a call or the answer.
type step struct {
	Search string   `json:"search"` // what a model asks search_tools
	Finds  []string `json:"finds"`  // operations that have to be among the first five, as "API METHOD PATH"

	Call      string            `json:"call"` // an operation
	Arguments map[string]any    `json:"arguments"`
	Free      []string          `json:"free"`  // members of arguments whose own members no document declares
	Shows     []string          `json:"shows"` // words, in small letters, beside the names of arguments without which nobody can write them, such as base64
	Keep      map[string]string `json:"keep"`  // queries in jq on the answer, by the name of the value

	Answer string `json:"answer"` // what is said in the end
}

// check is a request whose answer tells the state of a service.
type check struct {
	request
	Query string `json:"query"` // in jq; the kept values are $NAME
	Is    any    `json:"is"`
}

// readTasks reads the tasks of a folder, in the order of their names: all, or those that are named.
func readTasks(folder string, only []string) (all []*task, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		t, err := readTask(name, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, t)
	}
	if len(all) == 0 || len(only) > len(all) {
		return nil, fmt.Errorf("%s has %d of the tasks %s", folder, len(all), strings.Join(only, ", "))
	}
	return all, nil
}

func readTask(name, file string) (*task, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	archive := txtar.Parse(text)
	t := &task{name: name, about: strings.TrimSpace(string(archive.Comment))}
	for _, section := range archive.Files {
		switch section.Name {
		case "text":
			t.text = strings.TrimSpace(string(section.Data))
		case "setup.jsonl":
			err = lines(section.Data, &t.setup)
		case "script.jsonl":
			err = lines(section.Data, &t.script)
		case "state.jsonl":
			err = lines(section.Data, &t.state)
		case "answer":
			t.answer = strings.Split(strings.TrimSpace(string(section.Data)), "\n")
		default:
			err = errors.New("a task has the sections text, setup.jsonl, script.jsonl, state.jsonl and answer")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", section.Name, err)
		}
	}
	if t.about == "" || t.text == "" || len(t.script) == 0 || len(t.state)+len(t.answer) == 0 {
		return nil, errors.New("a task has a first paragraph, a text, a script, and a state or an answer")
	}
	return t, nil
}

// lines reads a JSON value of each line that is not empty.
func lines[T any](data []byte, all *[]T) error {
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		var value T
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		*all = append(*all, value)
	}
	return nil
}
