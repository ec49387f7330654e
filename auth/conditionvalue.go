package auth

import (
	"errors"
	"reflect"
	"unicode/utf8"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// Values that a condition may only compare. They are not CEL errors, because an error inside a list
// or a map counts as equal to anything there.

// longString is a string that is too long to process: a single string operation can't be
// interrupted.
type longString struct {
	types.String
	runes types.Int
}

func newLongString(text []byte) longString {
	return longString{types.String(text), types.Int(utf8.RuneCount(text))}
}

const tooLong = "value too long"

func errLong() ref.Val { return types.NewErr(tooLong) }

// Equal implements [ref.Val]. It compares the values instead of failing, because errors within a
// list go unnoticed.
func (l longString) Equal(other ref.Val) ref.Val {
	switch o := other.(type) {
	case longString:
		return types.Bool(l.String == o.String)
	case types.String:
		return types.Bool(l.String == o)
	}
	return types.False
}

// Size implements [traits.Sizer].
func (l longString) Size() ref.Val { return l.runes }

// Value implements [ref.Val]. It withholds the text from functions that use the Go value.
func (longString) Value() any { return nil }

// Add implements [traits.Adder].
func (longString) Add(ref.Val) ref.Val { return errLong() }

// Compare implements [traits.Comparer].
func (longString) Compare(ref.Val) ref.Val { return errLong() }

// Match implements [traits.Matcher].
func (longString) Match(ref.Val) ref.Val { return errLong() }

// Receive implements [traits.Receiver].
func (longString) Receive(string, string, []ref.Val) ref.Val { return errLong() }

// ConvertToType implements [ref.Val].
func (longString) ConvertToType(ref.Type) ref.Val { return errLong() }

// ConvertToNative implements [ref.Val].
func (longString) ConvertToNative(reflect.Type) (any, error) { return nil, errors.New(tooLong) }

// overflowNumber is a number that a double can't hold: it equals nothing, and is neither greater
// nor less, not even in "!(n > 5)".
type overflowNumber struct{ types.Double }

const tooLarge = "number too large"

func errLarge() ref.Val { return types.NewErr(tooLarge) }

// Compare implements [traits.Comparer].
func (overflowNumber) Compare(ref.Val) ref.Val { return errLarge() }

// Add implements [traits.Adder].
func (overflowNumber) Add(ref.Val) ref.Val { return errLarge() }

// Subtract implements [traits.Subtractor].
func (overflowNumber) Subtract(ref.Val) ref.Val { return errLarge() }

// Multiply implements [traits.Multiplier].
func (overflowNumber) Multiply(ref.Val) ref.Val { return errLarge() }

// Divide implements [traits.Divider].
func (overflowNumber) Divide(ref.Val) ref.Val { return errLarge() }

// Negate implements [traits.Negater].
func (overflowNumber) Negate() ref.Val { return errLarge() }

// ConvertToType implements [ref.Val].
func (overflowNumber) ConvertToType(ref.Type) ref.Val { return errLarge() }

// ConvertToNative implements [ref.Val].
func (overflowNumber) ConvertToNative(reflect.Type) (any, error) { return nil, errors.New(tooLarge) }
