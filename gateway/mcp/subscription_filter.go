package mcp

import (
	"slices"

	"drawbridge/openapi/jsonscan"
)

// listFilterKeys are the members of a filter that select lists, in the order of lists.
var listFilterKeys = [len(lists)]string{"toolsListChanged", "promptsListChanged", "resourcesListChanged"}

// subscriptionFilter is a SubscriptionFilter object (2026-07-28 schema).
type subscriptionFilter struct {
	lists             List
	uris, tasks       []string
	hasURIs, hasTasks bool
}

func parseFilter(object []byte, most int) (f subscriptionFilter, err *Error) {
	if jsonscan.KindOf(object) != jsonscan.Object {
		return f, InvalidParams("params.notifications must be an object")
	}
	for name, value := range jsonscan.Members(object) {
		switch name := string(name); name {
		case listFilterKeys[0], listFilterKeys[1], listFilterKeys[2]:
			kind := jsonscan.KindOf(value)
			if kind != jsonscan.Bool && kind != jsonscan.Null {
				return f, InvalidParams("params.notifications.%s must be true or false, got %s", name, kindName(kind))
			}
			if string(value) == "true" {
				f.lists |= lists[slices.Index(listFilterKeys[:], name)]
			}
		case "resourceSubscriptions":
			f.hasURIs = true
			if f.uris, err = stringArray(name, value, most); err != nil {
				return f, err
			}
		case "taskIds":
			f.hasTasks = true
			if f.tasks, err = stringArray(name, value, most); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

// stringArray decodes an array of at most so many distinct strings.
func stringArray(where string, array []byte, most int) ([]string, *Error) {
	if jsonscan.KindOf(array) != jsonscan.Array {
		return nil, InvalidParams("params.notifications.%s must be an array of strings", where)
	}
	var list []string
	known := make(map[string]bool)
	for e := range jsonscan.Elements(array) {
		s, ok := decodeString(e)
		if !ok {
			return nil, InvalidParams("params.notifications.%s must be an array of strings", where)
		}
		if !known[s] {
			known[s] = true
			list = append(list, s)
		}
		if len(list) > most {
			return nil, InvalidParams("params.notifications.%s has too many entries: at most %d", where, most)
		}
	}
	return list, nil
}
