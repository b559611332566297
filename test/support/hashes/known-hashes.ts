interface KnownHash {
  password: string | Buffer
  hash: string
}

const PASSWORD = 'correct horse battery'

const LONG_TEXT = 'a very much longer text to encrypt.  This one even stretches over morethan one line.'

/** Password hashes of other systems with their passwords, by where they come from. */
export const KNOWN_HASHES: Record<string, readonly KnownHash[]> = {
  'the reference implementation of Argon2, src/test.c: version 19, and version 16 with no mark': [
    {
      password: 'password',
      hash: '$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc',
    },
    {
      password: 'password',
      hash: '$argon2i$v=19$m=256,t=2,p=2$c29tZXNhbHQ$T/XOJ2mh1/TIpJHfCdQan76Q5esCFVoT5MAeIM1Oq2E',
    },
    {
      password: 'password',
      hash: '$argon2i$m=65536,t=2,p=1$c29tZXNhbHQ$9sTbSlTio3Biev89thdrlKKiCaYsjjYVJxGAL3swxpQ',
    },
  ],
  'made with argon2-cffi 25.1.0 from PyPI': [
    { password: PASSWORD, hash: '$argon2id$v=19$m=64,t=2,p=2$qtBFkmlnGt0Gee75Wg/w1A$4xQDzuAFuMMEmBRJr0W5wblSkzx/Cn8+' },
    { password: PASSWORD, hash: '$argon2i$v=19$m=64,t=2,p=2$tfSCBsUvt5moXoGXgPHMiA$MSgZvsXfnaGePD9V6y5Vc6AGhAapBeW5' },
    { password: PASSWORD, hash: '$argon2d$v=19$m=64,t=2,p=2$EfVXZneFTEuHSHbhigcDyg$Kk3vopLqThZwtIg8gKPVdfUD/fL8qaf7' },
    {
      password: PASSWORD,
      hash: '$argon2id$v=16$m=64,t=2,p=1$c29tZXNhbHQ4$KliwYOj2qvt8RhMODSfw739egv2KHLuIoIGpmwO43g8',
    },
    {
      password: PASSWORD,
      hash: '$argon2i$v=16$m=64,t=2,p=1$c29tZXNhbHQ4$eYXFv56qfsqVgAAJzed+UnqPb3ZebAE0JElfRnIG0vU',
    },
    {
      password: PASSWORD,
      hash: '$argon2d$v=16$m=64,t=2,p=1$c29tZXNhbHQ4$YbnAXeqMyJc/Lf/MkdRwgG4DNDdmNEUHBdodt7CaYyk',
    },
  ],
  'made with crypto.argon2Sync of Node 24.21, which takes associated data': [
    {
      password: PASSWORD,
      hash: '$argon2id$v=19$m=64,t=2,p=1,data=ZGF0YSBvZiB0aGUgYWNjb3VudA$c29tZXNhbHQ4$iGBOpiKvgKkZ/fz5w0xiUeuPmj/LvIIW/WQqxlw6jq4',
    },
  ],
  'crypt_blowfish, wrapper.c': [
    { password: 'U*U', hash: '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW' },
    { password: 'U*U*U', hash: '$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a' },
    {
      password: Buffer.from([0xff, 0xff, 0xa3]),
      hash: '$2y$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e',
    },
  ],
  'the manual of PHP, password_verify': [
    { password: 'rasmuslerdorf', hash: '$2y$07$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTpOq' },
  ],
  'made with password_hash and crypt of PHP 8.2.36': [
    { password: PASSWORD, hash: '$2y$04$aY4n1KPuhF0vDpwsr/d67uTl8zl2jiU0bAmqQijcTGkDHeroV7LHC' },
    {
      password: PASSWORD,
      hash: '$argon2id$v=19$m=64,t=2,p=1$NFlQWW9KSE9vRm04bWt2bA$krW8lzC4yPU8T/C13sgj937X4d6Kf+suKDPvUgKlreE',
    },
    {
      password: PASSWORD,
      hash: '$6$rounds=1000$saltstring$oAIkW2wT6q/.Re1iIA5Ip/ywtE0UC11Fdshqsdpza0IMGE6vtW66SJ4oVItZIfIoOXWd1IB9K/GDohAst972J1',
    },
  ],
  'bcrypt made with passlib 1.7.4 from PyPI': [
    { password: PASSWORD, hash: '$2b$04$.ptNbLcyLAzr4BBgctcqmeOMm8oZUgyrnm6ZeHpI8f3s2Sh22PC1O' },
    { password: PASSWORD, hash: '$2a$04$nwGRHAOfi/iXJGmeRYLAu.RpjYN2GGvwFSJ8Y9L75Mwrm/4wKJ69i' },
    { password: PASSWORD, hash: '$2y$04$Sbly92BVPR4xOUWH9aop7eHCE/D3dbdbojMRnD5WuyUvyT.LTxh.O' },
  ],
  'RFC 7914, section 12, written as a PHC string': [
    {
      password: 'password',
      hash: '$scrypt$ln=10,r=8,p=16$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWIurzDZLiKjiG/xCSedmDDaxyevuUqD7m2DYMvfoswGQA',
    },
  ],
  'the documentation of passlib': [
    {
      password: 'password',
      hash: '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
    },
    {
      password: 'password',
      hash: '$pbkdf2-sha256$6400$.6UI/S.nXIk8jcbdHx3Fhg$98jZicV16ODfEsEZeYPGHU3kbrUrvUEXOPimVSQDD44',
    },
  ],
  'made with passlib 1.7.4 from PyPI': [
    {
      password: PASSWORD,
      hash: '$scrypt$ln=10,r=8,p=1$ynmPcS4l5PxfixFCiJFSag$/C9fFxzrR5O5gsLVgXXVPpbR7ohRmCZ92mbLuZ0NapU',
    },
    { password: PASSWORD, hash: '$pbkdf2$1000$tXZuTSlFCAEg5ByDMEaIcQ$ssidwzzkx4a.O2GY5GYU5f3WebM' },
    {
      password: PASSWORD,
      hash: '$pbkdf2-sha256$1000$tbZ2zvkfQwjBuPceI.TcGw$NG.O7aX7Lw3lfEVk4xfhXj6TeVSPSTPEwF3mcj2dy.g',
    },
    {
      password: PASSWORD,
      hash: '$pbkdf2-sha512$1000$4xxDiNE6R.j9X0vJ.T9HCA$CxdOfnLEAjXl7vmnlM7akJcKqe8HbJFZUp..nfFuIbtMwZ4yI/O/H39gtWzALMlXRIXtRDu.YDzdq/M53je2PA',
    },
  ],
  'made with generate_password_hash of Werkzeug 3.1.9 from PyPI': [
    {
      password: PASSWORD,
      hash: 'scrypt:1024:8:1$Lt2ZbWuSLvCkpGgN$ed0b2f7625655c8238e0b3d851ae67c1adc5f7a4ad7200d4ac8c603d2974d2db815f719796acbfdd329750829d0aeb29f168398701e22fca069f1ee78c584539',
    },
    {
      password: PASSWORD,
      hash: 'scrypt:32768:8:1$F0N8Rnu3eJf0jWpN$5fe6481ad7f20160b3873780b71c55c8d9d85e02b1787a41f80cd14cac37c4c14fd963181558b81caef7afaf0c2afd07410b97dc8b0574efaa4a76556c9f210c',
    },
  ],
  'made with hashPassword of @better-auth/utils 0.5.1 from npm': [
    {
      password: PASSWORD,
      hash: '8542044cd61a3375c3a9d5cacafc6c9b:2c4c197ffa0114cca5abf955a1482e705b04dffa3030a2222395d0ce4f109914b2842f5849f657f3feb7b39bd000bdfcf0dbba0ccb43a123be58c68cd90bc140',
    },
  ],
  'the README of github.com/firebase/scrypt': [
    {
      password: 'user1password',
      hash: '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
    },
    {
      // The same in the alphabet of addresses, as `firebase auth:export` writes JSON.
      password: 'user1password',
      hash: '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC-ixf3L2lw==$lSrfV15cpx95_sZS2W9c9Kp6i_LVgQNDNC_qzrCnh1SAyZvqmZqAjTdn3aoItz-VHjoZilo78198JAdRuid5lQ==',
    },
  ],
  'the tests of github.com/supabase/auth, internal/crypto/password_test.go': [
    {
      password: 'mytestpassword',
      hash: '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=ou9tdYTGyYm8kuR6Dt0Bp0kDuAYoXrK16mbZO4yGwAn3oLspjnN0/c41v8xZnO1n14J3MjKj1b2g6AUCAlFwMw==$C0sHCg9ek77hsg==$zKVTMvnWVw5BBOZNUdnsalx4c4c7y/w7IS5p6Ut2+CfEFFlz37J9huyQfov4iizN8dbjvEJlM5tQaJP84+hfTw==',
    },
  ],
  'RFC 6070, section 2, written as PHC strings': [
    { password: 'password', hash: '$pbkdf2$i=4096$c2FsdA$SwB5AbdlSJq+rUnZJvch0GWkKcE' },
    { password: 'password', hash: '$pbkdf2-sha1$i=4096,l=20$c2FsdA$SwB5AbdlSJq+rUnZJvch0GWkKcE' },
  ],
  'the tests of the crates pbkdf2 and password-auth of RustCrypto': [
    {
      password: 'password',
      hash: '$pbkdf2-sha256$i=4096,l=32$c2FsdA$xeR41ZKIyEGqUw22hFxMjZYok6ABzk4RpJY4c6qYE0o',
    },
  ],
  'made with Django 5.2.19 from PyPI': [
    {
      password: PASSWORD,
      hash: 'pbkdf2_sha256$1000$lGnRYZbIrH4Uyz5CfLFqmT$80ZJJu8bfP1AntBHVJh+/CahaLZOS4wOoIFeDJoA7sA=',
    },
    { password: PASSWORD, hash: 'pbkdf2_sha1$1000$seasalt$LPTbYn9/9ALjztx0Dtq5V+DLYLg=' },
  ],
  'Ulrich Drepper, Unix crypt using SHA-256 and SHA-512, test vectors': [
    { password: 'Hello world!', hash: '$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5' },
    { password: 'Hello world!', hash: '$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA' },
    {
      password: 'This is just a test',
      hash: '$5$rounds=5000$toolongsaltstrin$Un/5jzAHMgOGZ5.mWJpuVolil07guHPvOW8mGRcvxa5',
    },
    { password: LONG_TEXT, hash: '$5$rounds=1400$anotherlongsalts$Rx.j8H.h8HjEDGomFU8bDkXm3XIUnzyxf12oP84Bnq1' },
    {
      password: 'the minimum number is still observed',
      hash: '$5$rounds=1000$roundstoolow$yfvwcWrQ8l/K0DAWyuPMDNHpIVlTQebY9l/gL972bIC',
    },
    {
      password: 'Hello world!',
      hash: '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
    },
    {
      password: 'Hello world!',
      hash: '$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.',
    },
    {
      password: LONG_TEXT,
      hash: '$6$rounds=1400$anotherlongsalts$POfYwTEok97VWcjxIiSOjiykti.o/pQs.wPvMxQ6Fm7I6IoYN3CmLs66x9t0oSwbtEW7o7UmJEiDwGqd8p4ur1',
    },
    {
      password: 'we have a short salt string but not a short password',
      hash: '$6$rounds=77777$short$WuQyW2YR.hBNpjjRhpYD/ifIw05xdfeEyQoMxIXbkvr0gge1a1x3yRULJ5CCaUeOxFmtlcGZelFl5CxtgfiAc0',
    },
    {
      password: 'the minimum number is still observed',
      hash: '$6$rounds=1000$roundstoolow$kUMsbe306n21p9R.FRkW3IGn.S9NPN0x50YhH1xhLsPuWGsUSklZt58jaTfF4ZEQpyUNGc0dqbpBYYBaHHrsX.',
    },
  ],
  'SHA-crypt made with passlib 1.7.4 from PyPI': [
    { password: 'pässwörd', hash: '$5$rounds=1000$VJ99/7gz/LHy6gz3$EQZwuE0cVyyBbEnc8x26SgBe638hAgMxOp0r6DbkK91' },
    {
      password: 'pässwörd',
      hash: '$6$rounds=1000$zveDy/qXlDC.9eQe$wjQ1b3InjoXToli56ZYXuW.oOlKm8hK7qLt9AbhOun9Yq5klS7IjQ4Oqoa3TnN0UTcDSlU.cryCCnTXXyfksq1',
    },
    { password: 'x'.repeat(200), hash: '$5$rounds=1000$oaLnoHylQS5LCX7Z$GR60iMzyuJhRNGvcdAYlgLSC/vyHGIt2t6cDSKg3R1D' },
    {
      password: 'x'.repeat(200),
      hash: '$6$rounds=1000$QUkG8nhRDuZYaCb5$yjXdNYThHJyRTNmwUT0apNfN/XOtLDDxW0iNfDlDyu.NWj0Lb2Au3CYAawr9nDUR7b3d1bAEj550k4ScWJOLL0',
    },
  ],
}
