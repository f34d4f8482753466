# What runners of tests print, as three numbers: passed, failed, skipped. Who skips has passed, as far as Cargo's runner and ctest know: that is put right here.
# (Checked by crates/tests/silverpoint-tests.)

# SKIPPED: TEST: WHY, of a test's; once each until its program ends.
match($0, /SKIPPED: [^ ]+: /) && !/^[a-z]+: SKIPPED/ {
    name = substr($0, RSTART, RLENGTH)
    if (!(name in told)) { told[name] = 1; skips++ }
}
/^[a-z]+: SKIPPED: / { skipped++ }
/^test result:/ {
    for (i = 1; i < NF; i++) {
        if ($(i + 1) ~ /^passed/) passed += $i
        if ($(i + 1) ~ /^failed/) failed += $i
        if ($(i + 1) ~ /^ignored/) skipped += $i
    }
    passed -= skips; skipped += skips; skips = 0
    split("", told)
}
/Test +#[0-9]+: .*\*\*\*Skipped/ { passed--; skipped++ }
/tests passed, [0-9]+ tests failed out of [0-9]+/ {
    total = $NF
    for (i = 1; i < NF; i++) if ($i == "tests" && $(i + 1) == "failed") bad = $(i - 1)
    passed += total - bad; failed += bad
}
/^(kill test|fuzz|msrv|instructions|python|bench|headers|adopt|dotnet|view|windows): [0-9]+ passed, [0-9]+ failed/ {
    for (i = 2; i <= NF; i++) {
        if ($i ~ /^passed/) passed += $(i - 1)
        if ($i ~ /^failed/) failed += $(i - 1)
        if ($i ~ /^skipped/) skipped += $(i - 1)
    }
}
END { printf "%d %d %d", passed, failed, skipped }
