package auth

import (
	"errors"
	"reflect"
	"unicode/utf8"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// Values that a condition may compare and do nothing else with. They are no
// errors: an error inside a list or a map counts as equal to anything there.

// longText is a string that is too long to work on: one operation on a string
// can't be interrupted.
type longText struct {
	types.String
	runes types.Int
}

func newLongText(text []byte) longText {
	return longText{types.String(text), types.Int(utf8.RuneCount(text))}
}

const tooLong = "value too long"

func errLong() ref.Val { return types.NewErr(tooLong) }

// Equal implements [ref.Val]. It tells the truth, since nobody looks for an error within a list.
func (l longText) Equal(other ref.Val) ref.Val {
	switch o := other.(type) {
	case longText:
		return types.Bool(l.String == o.String)
	case types.String:
		return types.Bool(l.String == o)
	}
	return types.False
}

// Size implements [traits.Sizer].
func (l longText) Size() ref.Val { return l.runes }

// Value implements [ref.Val]: not the text, for functions that take it from there.
func (longText) Value() any { return nil }

// Add implements [traits.Adder].
func (longText) Add(ref.Val) ref.Val { return errLong() }

// Compare implements [traits.Comparer].
func (longText) Compare(ref.Val) ref.Val { return errLong() }

// Match implements [traits.Matcher].
func (longText) Match(ref.Val) ref.Val { return errLong() }

// Receive implements [traits.Receiver].
func (longText) Receive(string, string, []ref.Val) ref.Val { return errLong() }

// ConvertToType implements [ref.Val].
func (longText) ConvertToType(ref.Type) ref.Val { return errLong() }

// ConvertToNative implements [ref.Val].
func (longText) ConvertToNative(reflect.Type) (any, error) { return nil, errors.New(tooLong) }

// noNumber is a number that is none here: it is equal to nothing, and neither
// greater nor less, not even in "!(n > 5)".
type noNumber struct{ types.Double }

const tooLarge = "number too large"

func errLarge() ref.Val { return types.NewErr(tooLarge) }

// Compare implements [traits.Comparer].
func (noNumber) Compare(ref.Val) ref.Val { return errLarge() }

// Add implements [traits.Adder].
func (noNumber) Add(ref.Val) ref.Val { return errLarge() }

// Subtract implements [traits.Subtractor].
func (noNumber) Subtract(ref.Val) ref.Val { return errLarge() }

// Multiply implements [traits.Multiplier].
func (noNumber) Multiply(ref.Val) ref.Val { return errLarge() }

// Divide implements [traits.Divider].
func (noNumber) Divide(ref.Val) ref.Val { return errLarge() }

// Negate implements [traits.Negater].
func (noNumber) Negate() ref.Val { return errLarge() }

// ConvertToType implements [ref.Val].
func (noNumber) ConvertToType(ref.Type) ref.Val { return errLarge() }

// ConvertToNative implements [ref.Val].
func (noNumber) ConvertToNative(reflect.Type) (any, error) { return nil, errors.New(tooLarge) }
