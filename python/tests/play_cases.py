"""Plays cases that check themselves, from the command line of the file that has them."""
import sys


def play(cases, checks):
    """Plays those that the command line names, or all; says how many checks they made; exits."""
    failed = 0
    for case in [c for c in cases if c.__name__ in sys.argv[1:] or len(sys.argv) == 1]:
        try:
            case()
        except Exception as error:  # noqa: BLE001: every case is to be played
            failed += 1
            print(f"FAIL {case.__name__}: {type(error).__name__}: {str(error)[:1000]}")
    print(f"{checks()} checks")
    sys.exit(failed > 0)
