//go:build amd64 && !purego

#include "textflag.h"

// Sixteen times the same byte.
DATA quotes<>+0(SB)/8, $0x2222222222222222
DATA quotes<>+8(SB)/8, $0x2222222222222222
GLOBL quotes<>(SB), RODATA|NOPTR, $16
DATA slashes<>+0(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA slashes<>+8(SB)/8, $0x5c5c5c5c5c5c5c5c
GLOBL slashes<>(SB), RODATA|NOPTR, $16
DATA spaces<>+0(SB)/8, $0x2020202020202020
DATA spaces<>+8(SB)/8, $0x2020202020202020
GLOBL spaces<>(SB), RODATA|NOPTR, $16
DATA dels<>+0(SB)/8, $0x7f7f7f7f7f7f7f7f
DATA dels<>+8(SB)/8, $0x7f7f7f7f7f7f7f7f
GLOBL dels<>(SB), RODATA|NOPTR, $16
DATA controls<>+0(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA controls<>+8(SB)/8, $0x1f1f1f1f1f1f1f1f
GLOBL controls<>(SB), RODATA|NOPTR, $16

// RUN goes through the text at SI by blocks of 16 bytes, the last of which may start at R8, and counts them in AX. It jumps to found where a byte
// is that of X10 or X11, or less than that of X12; CX has a bit for each of these. As signed numbers, control characters and what is beyond ASCII
// are less than a space.
#define RUN \
block: \
	MOVOU    (SI)(AX*1), X0; \
	MOVO     X12, X1; \
	PCMPGTB  X0, X1; \
	MOVO     X10, X2; \
	PCMPEQB  X0, X2; \
	PCMPEQB  X11, X0; \
	POR      X2, X1; \
	POR      X0, X1; \
	PMOVMSKB X1, CX; \
	TESTL    CX, CX; \
	JNZ      found; \
	ADDQ     $16, AX; \
	CMPQ     AX, R8; \
	JLE      block

// func plainRun(text []byte) int
TEXT ·plainRun(SB), NOSPLIT, $0-32
	MOVQ text_base+0(FP), SI
	MOVQ text_len+8(FP), R8
	XORQ AX, AX              // the length so far
	SUBQ $16, R8             // where the last block may start
	JLT  end
	MOVOU quotes<>(SB), X10
	MOVOU slashes<>(SB), X11
	MOVOU spaces<>(SB), X12

	RUN

end:
	MOVQ AX, ret+24(FP)
	RET

found:
	BSFL CX, CX
	ADDQ CX, AX
	MOVQ AX, ret+24(FP)
	RET

// func visibleRun(text []byte, slashes bool) int
TEXT ·visibleRun(SB), NOSPLIT, $0-40
	MOVQ text_base+0(FP), SI
	MOVQ text_len+8(FP), R8
	XORQ AX, AX              // the length so far
	SUBQ $16, R8             // where the last block may start
	JLT  end
	MOVOU dels<>(SB), X10
	MOVOU spaces<>(SB), X12
	MOVO  X10, X11
	MOVBLZX slashes+24(FP), CX
	TESTL CX, CX
	JZ    run
	MOVOU slashes<>(SB), X11

run:
	RUN

end:
	MOVQ AX, ret+32(FP)
	RET

found:
	BSFL CX, CX
	ADDQ CX, AX
	MOVQ AX, ret+32(FP)
	RET

// func escapeBlocks(room, text []byte, spreads *[256]spread) (read, written int)
TEXT ·escapeBlocks(SB), NOSPLIT, $0-72
	MOVQ room_base+0(FP), DI
	MOVQ room_len+8(FP), R9
	MOVQ text_base+24(FP), SI
	MOVQ text_len+32(FP), R8
	MOVQ spreads+48(FP), DX
	XORQ R10, R10            // read
	XORQ R11, R11            // written
	SUBQ $16, R8             // where the last block may start
	JLT  stop
	SUBQ $32, R9             // where the last block may be put: twice its length
	JLT  stop
	MOVOU quotes<>(SB), X10
	MOVOU slashes<>(SB), X11
	MOVOU controls<>(SB), X12

next:
	MOVOU (SI)(R10*1), X0
	MOVO   X0, X3
	PMINUB X12, X3
	PCMPEQB X0, X3           // control characters
	MOVO   X0, X1
	PCMPEQB X10, X1
	MOVO   X0, X2
	PCMPEQB X11, X2
	POR    X2, X1            // quotes and backslashes
	PMOVMSKB X3, CX
	TESTL  CX, CX
	JNZ    stop
	PMOVMSKB X1, AX
	TESTL  AX, AX
	JZ     plain

	// The first eight bytes, with backslashes behind them for the spread to pick from.
	MOVBLZX AX, BX
	SHRL    $8, AX
	POPCNTL BX, R12
	SHLQ    $4, BX
	MOVOU   (DX)(BX*1), X4
	MOVO    X0, X5
	PUNPCKLQDQ X11, X5
	PSHUFB  X4, X5
	MOVOU   X5, (DI)(R11*1)
	LEAQ    8(R11)(R12*1), R11

	// The other eight.
	POPCNTL AX, R12
	SHLQ    $4, AX
	MOVOU   (DX)(AX*1), X4
	PUNPCKHQDQ X11, X0
	PSHUFB  X4, X0
	MOVOU   X0, (DI)(R11*1)
	LEAQ    8(R11)(R12*1), R11
	JMP     done

plain:
	MOVOU X0, (DI)(R11*1)
	ADDQ  $16, R11

done:
	ADDQ $16, R10
	CMPQ R10, R8
	JGT  stop
	CMPQ R11, R9
	JLE  next

stop:
	MOVQ R10, read+56(FP)
	MOVQ R11, written+64(FP)
	RET

// func shuffles() bool
TEXT ·shuffles(SB), NOSPLIT, $0-1
	MOVL $1, AX
	XORL CX, CX
	CPUID
	ANDL $0x00800200, CX     // bit 23: POPCNT, bit 9: SSSE3 (Intel SDM volume 2, CPUID leaf 1)
	CMPL CX, $0x00800200
	SETEQ ret+0(FP)
	RET
