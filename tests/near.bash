# near_by HOW WANTED GOT: two files whose lines differ in the last digits of numbers at most, by HOW relative
# to 1 or to the number: for what sums of many numbers print beside JAX's.
near_by() {
    awk -v how="$1" '
        function split_line(s, part) { gsub(/[][,]/, " & ", s); return split(s, part, " ") }
        function is_number(s) { return s ~ /^-?[0-9]+\.?[0-9]*(e[-+]?[0-9]+)?$/ }
        function abs(x) { return x < 0 ? -x : x }
        NR == FNR { line[++lines] = $0; next }
        {
            n = split_line(line[FNR], a); m = split_line($0, b)
            bad = n != m
            for (i = 1; i <= n && !bad; i++)
                bad = is_number(a[i]) && is_number(b[i]) \
                    ? abs(a[i] - b[i]) > how * (1 + abs(a[i])) : a[i] != b[i]
            if (bad) { print "wanted: " line[FNR] "\n   got: " $0; failed = 1 }
        }
        END { if (FNR != lines) { print "wanted " lines " lines, got " FNR; failed = 1 } exit failed }
    ' "$2" "$3"
}
