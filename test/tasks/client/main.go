package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"drawbridge/test/tasks/session"
)

func main() {
	journalFile := flag.String("journal", "out/tasks/journal.jsonl", "the `file` that counts calls and tokens")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), `usage: client [-journal FILE] URL COMMAND

At the endpoint's URL:
  instructions          what the server says to a model
  list                  the tools that it lists
  search WORDS          search_tools
  describe NAME…        describe_tools
  read NAME ARGUMENTS   read_tool, with arguments as JSON
  call NAME ARGUMENTS   call_tool, with arguments as JSON
  tool NAME ARGUMENTS   any tool by its own name
At the URL of the tasks:
  next [ANSWER]         ends the task before with an answer, and prints the next one
`)
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &journal{file: *journalFile}, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		stop()
		os.Exit(1)
	}
}

var errUsage = errors.New("expected URL COMMAND; -h lists the commands")

func run(ctx context.Context, j *journal, args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	url, command, args := args[0], args[1], args[2:]
	if command == "next" {
		return next(ctx, j, url, args)
	}
	s, err := session.Open(ctx, url)
	if err != nil {
		return err
	}
	defer s.Close()
	switch command {
	case "instructions":
		fmt.Println(s.Instructions())
		return nil
	case "list":
		return list(ctx, s)
	}
	tool, arguments, err := chosen(command, args)
	if err != nil {
		return err
	}
	answer, err := s.Call(ctx, tool, arguments)
	if err != nil {
		return err
	}
	fmt.Println(answer.Text)
	return j.write(entry{Tool: tool, Arguments: arguments, Tokens: answer.Tokens, IsError: answer.IsError})
}

// chosen returns the tool and the arguments of a command.
func chosen(command string, args []string) (tool string, arguments any, err error) {
	switch {
	case command == "search" && len(args) == 1:
		return "search_tools", map[string]any{"query": args[0]}, nil
	case command == "describe" && len(args) > 0:
		return "describe_tools", map[string]any{"names": args}, nil
	case len(args) == 1:
		args = append(args, "{}")
	}
	if len(args) != 2 || !json.Valid([]byte(args[1])) {
		return "", nil, fmt.Errorf("%s takes the name of a tool, and its arguments as JSON: %w", command, errUsage)
	}
	members := json.RawMessage(args[1])
	switch command {
	case "read", "call":
		return command + "_tool", map[string]any{"name": args[0], "arguments": members}, nil
	case "tool":
		return args[0], members, nil
	}
	return "", nil, fmt.Errorf("there is no command %q: %w", command, errUsage)
}

// list prints the tools of the endpoint.
func list(ctx context.Context, s *session.Session) error {
	tools, err := s.Tools(ctx)
	if err != nil {
		return err
	}
	for _, tool := range tools {
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n%s\n\n", tool.Name, tool.Description, schema)
	}
	return nil
}
