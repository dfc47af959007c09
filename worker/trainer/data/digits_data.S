/* The data set as bytes of the program: digits_csv to digits_csv_end. */
    .section .rodata
    .global digits_csv
    .global digits_csv_end
    .balign 16
digits_csv:
    .incbin "worker/trainer/data/digits.csv"
digits_csv_end:
    .section .note.GNU-stack, "", %progbits
