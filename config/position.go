package config

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"
)

// position is a line and a column of a file, both from 1; the zero value for no position.
type position struct{ line, column int }

// positionOf returns the position of a node.
func positionOf(n *yaml.Node) position { return position{n.Line, n.Column} }

// nearestPosition returns the position of the value at a key path, or else of the nearest that encloses it.
func nearestPosition(positions map[string]position, key string) position {
	for {
		if p, ok := positions[key]; ok {
			return p
		}
		if key == "" {
			return position{}
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
}

// wrong returns an error of the value at a place.
func wrong(at Problem, err error) error {
	at.Severity, at.Message = Error, err.Error()
	return errors.New(at.String())
}
