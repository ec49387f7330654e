package jsonscan

func (s *scanner) digits(i int) int {
	for i < len(s.data) && s.data[i]-'0' <= 9 {
		i++
	}
	return i
}

// number scans the number at i. It also reports whether the literal consists only of digits, and so is an integer
// without further checks.
func (s *scanner) number(i int) (end int, digits bool, err error) {
	d := s.data
	if d[i] == '-' {
		i++
	}
	switch {
	case i < len(d) && d[i] == '0':
		i++
	default:
		j := s.digits(i)
		if j == i {
			return i, false, s.unexpected(i, "a digit")
		}
		i = j
	}
	if i >= len(d) || d[i] != '.' && d[i] != 'e' && d[i] != 'E' {
		return i, true, nil
	}
	if d[i] == '.' {
		j := s.digits(i + 1)
		if j == i+1 {
			return i, false, s.unexpected(j, "a digit")
		}
		i = j
	}
	if i < len(d) && (d[i] == 'e' || d[i] == 'E') {
		i++
		if i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		j := s.digits(i)
		if j == i {
			return i, false, s.unexpected(i, "a digit")
		}
		i = j
	}
	return i, false, nil
}

// isInteger reports whether a number literal has no fraction, in any notation: 1.0 and 1.5e1 are integers.
func isInteger(literal []byte) bool {
	fraction, zeros, exponent := 0, 0, 0
	negative, any, inFraction := false, false, false
	for i := 0; i < len(literal); i++ {
		switch c := literal[i]; c {
		case '.':
			inFraction = true
		case 'e', 'E':
			for _, c := range literal[i+1:] {
				switch {
				case c == '-':
					negative = true
				case c != '+' && exponent < 1<<20:
					exponent = exponent*10 + int(c-'0')
				}
			}
			i = len(literal)
		case '-':
		default:
			if inFraction {
				fraction++
			}
			if c == '0' {
				zeros++
			} else {
				zeros, any = 0, true
			}
		}
	}
	if negative {
		exponent = -exponent
	}
	// The value is its digits times ten to (exponent - fraction); trailing zeros may be moved.
	return !any || exponent-fraction+zeros >= 0
}
