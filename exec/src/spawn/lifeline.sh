# Run by the lifeline with the name of the variable that bears the mark. Reads lines until their end:
#   + ID    a session has begun
#   - ID    nothing is left of a session
#   = MARK  processes that were started with this mark are ours
#   .       whoever writes this lives on
# Then kills every process of the sessions it knows of, whatever group they are in, and whoever bears a mark and was left
# to another by our death; again until it finds none, but not more often than 50 times. Only built-ins are used.
variable=$1
known=' '
marks=' '
lives=
while read -r what id; do
    case $what in
        +) known="$known$id " ;;
        -) case $known in *" $id "*) known="${known%% "$id" *} ${known#* "$id" }" ;; esac ;;
        =) marks="$marks$id " ;;
        .) lives=yes ;;
    esac
done

# Sets 1 to 20 to what /proc says of a process from its state on: 2 is its parent, 4 its session, 20 when it started.
look() { read -r line < "/proc/$1/stat"; }

# Orphans go to the same process as this one does, once the last thread of our parent is gone.
heir=
if [ "$marks" != ' ' ] && [ -z "$lives" ]; then
    read -r now rest < /proc/uptime
    now="${now%.*}${now#*.}"
    tries=0
    while [ $tries -lt 20000 ]; do
        tries=$((tries + 1))
        look $$
        set -- ${line##*) }
        [ "$2" = "$PPID" ] || { heir=$2; break; }
    done
fi

# Whether a process was started with a mark. What stands between variables is lost in reading.
is_marked() {
    while read -r line || [ -n "$line" ]; do
        for mark in $marks; do
            case $line in *"$variable=$mark"*) return 0 ;; esac
        done
    done < "/proc/$1/environ"
    return 1
}

round=0
calm=0
while [ $round -lt 50 ] && { [ "$known" != ' ' ] || [ -n "$heir" ]; }; do
    round=$((round + 1))
    found=
    for process in /proc/[0-9]*; do
        process=${process#/proc/}
        { look "$process"; } 2> /dev/null || continue
        set -- ${line##*) }
        case $1 in Z|X) continue ;; esac
        case $known in
            *" $4 "*) ;;
            # Later ones are those of the next process that goes on with our session.
            *)  [ "$2" = "$heir" ] && [ "${20}" -le "$now" ] && is_marked "$process" || continue
                known="$known$4 " ;;
        esac
        kill -s KILL "$process" && found=yes
    done 2> /dev/null
    # The children of the last who died may have become orphans after they were passed by.
    [ -z "$found" ] || { calm=0; continue; }
    calm=$((calm + 1))
    [ $calm -lt 2 ] || break
done
