package main

import (
	"encoding/json"
	"errors"
	"strings"
)

// completion is a chat completion in the form of OpenAI, as far as it is read. Ollama, vLLM and others answer in that form, too.
type completion struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			// Content is a string, a list of parts, or null.
			Content   json.RawMessage   `json:"content"`
			Refusal   string            `json:"refusal"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
		} `json:"message"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

// completed returns the text of a chat completion. Errors quote nothing of it.
func completed(data []byte) (string, error) {
	var c completion
	switch err := json.Unmarshal(data, &c); {
	case err == nil && len(c.Choices) == 0 && len(c.Error) > 0:
		return "", errors.New("the response of the model is an error instead of a chat completion")
	case err != nil || len(c.Choices) == 0:
		return "", errors.New("the response of the model is no chat completion")
	}
	choice := &c.Choices[0]
	text, err := contentText(choice.Message.Content)
	switch {
	case err != nil:
		return "", err
	case choice.Message.Refusal != "":
		return "", errors.New("the model refused to answer")
	case choice.FinishReason == "length":
		return "", errors.New("the answer of the model was cut at its limit of tokens")
	case choice.FinishReason == "content_filter":
		return "", errors.New("the answer of the model was withheld by a content filter")
	case strings.TrimSpace(text) == "" && len(choice.Message.ToolCalls) > 0:
		return "", errors.New("the model called a tool, although it was offered none")
	}
	text = withoutThoughts(text)
	if text == "" {
		return "", errors.New("the answer of the model is empty")
	}
	return text, nil
}

// contentText returns the text of the content of a message.
func contentText(content json.RawMessage) (string, error) {
	var text string
	if content == nil || json.Unmarshal(content, &text) == nil { // null is ""
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(content, &parts); err != nil {
		return "", errors.New("the content of the model's message is neither a string nor a list of parts")
	}
	for _, p := range parts {
		switch p.Type {
		case "text", "output_text":
			text += p.Text
		case "refusal":
			return "", errors.New("the model refused to answer")
		}
	}
	return text, nil
}

// withoutThoughts returns an answer without the thoughts before it, which servers without a parser for the model leave in the text.
func withoutThoughts(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<think>") {
		if _, after, ok := strings.Cut(text, "</think>"); ok {
			return strings.TrimSpace(after)
		}
	}
	return text
}
