package embedding

import (
	"errors"
	"fmt"
	"strconv"

	"drawbridge/openapi/jsonscan"
)

// answerSize returns the maximum size of a response with n vectors, in bytes.
func answerSize(n int) int64 { return 64<<10 + int64(n)*maxDimensions*26 }

// parse reads a response with n vectors of the given number of dimensions; 0 allows any number that is the same for
// all. The vectors are in the order of the texts. The error contains nothing of the response: a server may repeat the
// texts there.
func parse(body []byte, n, dimensions int) ([]vector, error) {
	if _, err := jsonscan.Scan(body, jsonscan.Options{}); err != nil {
		return nil, errors.New("the answer is not JSON")
	}
	list := []byte(nil)
	if jsonscan.KindOf(body) == jsonscan.Object {
		list = jsonscan.Lookup(body, "data")
	}
	if jsonscan.KindOf(list) != jsonscan.Array {
		return nil, errors.New("the answer has no array data")
	}
	all, at := make([]vector, n), 0
	for element := range jsonscan.Elements(list) {
		if at == n {
			return nil, fmt.Errorf("the answer has more than %d vectors", n)
		}
		place, v, err := parseElement(element, at, dimensions)
		if err != nil {
			return nil, fmt.Errorf("vector %d: %w", at, err)
		}
		if place >= n || all[place].values != nil {
			return nil, fmt.Errorf("vector %d: its index is wrong", at)
		}
		all[place], dimensions = v, len(v.values)
		at++
	}
	if at < n {
		return nil, fmt.Errorf("the answer has %d vectors, expected %d", at, n)
	}
	return all, nil
}

// parseElement reads an element of data. otherwise is its index if it states none.
func parseElement(element []byte, otherwise, dimensions int) (place int, v vector, err error) {
	if jsonscan.KindOf(element) != jsonscan.Object {
		return 0, v, errors.New("it is not an object")
	}
	place = otherwise
	if index := jsonscan.Lookup(element, "index"); index != nil {
		if place, err = strconv.Atoi(string(index)); err != nil || place < 0 {
			return 0, v, errors.New("its index is wrong")
		}
	}
	list := jsonscan.Lookup(element, "embedding")
	if jsonscan.KindOf(list) != jsonscan.Array {
		return 0, v, errors.New("it has no array embedding")
	}
	values := make([]float32, 0, max(dimensions, 384))
	for number := range jsonscan.Elements(list) {
		if len(values) == maxDimensions {
			return 0, v, fmt.Errorf("it has more than %d dimensions", maxDimensions)
		}
		x, err := strconv.ParseFloat(string(number), 32)
		if jsonscan.KindOf(number) != jsonscan.Number || err != nil {
			return 0, v, errors.New("a component is not a number")
		}
		values = append(values, float32(x))
	}
	if dimensions > 0 && len(values) != dimensions {
		return 0, v, fmt.Errorf("it has %d dimensions, expected %d", len(values), dimensions)
	}
	v, ok := newVector(values)
	if !ok {
		return 0, v, errors.New("it is zero")
	}
	return place, v, nil
}
