# what ansible's raw module sends
ssh -C -o ControlMaster=no -tt celladmin@$1 '/bin/sh -c '"'"'cellcli -e "list cell attributes name,status" && sleep 0'"'"''
ssh $1 '( umask 77 && mkdir -p "` echo ~/.ansible/tmp `" && cd ~/.ansible/tmp && mkdir "` echo t-1 `" && echo t=$PWD/t-1 ) && sleep 0'
printf 'import sys\nprint(sys.version_info[0])\n' > $HOME/mod.py
scp -q $HOME/mod.py $1:.ansible/tmp/t-1/mod.py; sftp -b - $1 <<EOF
ls .ansible/tmp/t-1
get .ansible/tmp/t-1/mod.py $HOME/back.py
rm .ansible/tmp/t-1/mod.py
EOF
cmp $HOME/mod.py $HOME/back.py && echo same
ssh $1 'rm -rf .ansible; test -d .ansible || echo gone'
