# Amounts are counted in cents: no rounding.

# cents_of AMOUNT: the cents of an amount such as 12.34 or -0.50.
cents_of() {
    local amount=$1
    local whole=${amount%.*} part=${amount#*.}
    if ((whole < 0)); then
        echo $((whole * 100 - 10#$part))
    else
        echo $((whole * 100 + 10#$part))
    fi
}

# amount_of CENTS: the amount with two digits after the point.
amount_of() {
    local cents=$1 sign=
    if ((cents < 0)); then
        sign=-
        cents=$((-cents))
    fi
    printf '%s%d.%02d\n' "$sign" $((cents / 100)) $((cents % 100))
}
